"""Affine forms: intervals that remember which inputs they depend on, thousands at a time.

A form is `centre + Σ coefficients[i] · e[i] + Σ squares[i, j] · e[i] · e[j] + radius · e`, with
every e anywhere in [-1, 1]; most have no squares. Where intervals lose that `x - 0.5 x` is half an
x, forms do not. The radius takes up what is not linear (of third power, where squares are kept) and
the rounding of every operation, both ours and that of a program that computes the same in float64.
`FORMS` is the module a plant's equations get in the place of NumPy.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from crisptree.verify.intervals import INTERVALS, Interval, interval
from crisptree.verify.sound import Sound, Values, truth

ROUNDING = 2.0**-50
"""Relative to the sizes that enter an operation; the errors of one are below a quarter of it."""
TINY = 1e-300


class Affine(Sound):
    """`centre` and `radius` are `(N,)`, `coefficients` `(symbols, N)`, `squares` `(symbols,
    symbols, N)`, or None for a form that has none."""

    __slots__ = ("centre", "coefficients", "radius", "squares")

    def __init__(
        self, centre: Values, coefficients: Values, radius: Values, squares: Values = None
    ) -> None:
        self.centre, self.coefficients, self.radius = centre, coefficients, radius
        self.squares = squares

    @property
    def linear(self) -> Values:
        """How far the linear part can lie from zero."""
        return np.abs(self.coefficients).sum(axis=0)

    @property
    def rest(self) -> Values:
        """The same for all that is not linear."""
        if self.squares is None:
            return self.radius
        return np.abs(self.squares).sum(axis=(0, 1)) + self.radius

    @property
    def reach(self) -> Values:
        """How far the form can lie from its centre, rounded up."""
        return (self.linear + self.rest) * (1 + ROUNDING) + TINY

    def bounds(self) -> Interval:
        reach = self.reach
        low, high = self.centre - reach, self.centre + reach
        return Interval(np.nextafter(low, -np.inf), np.nextafter(high, np.inf))

    def ends(self) -> tuple[Values, Values]:
        bounds = self.bounds()
        return bounds.low, bounds.high

    def without_squares(self) -> "Affine":
        """The form with the squares as part of its centre and radius: e² lies in [0, 1], a product
        of two symbols in [-1, 1]."""
        if self.squares is None:
            return self
        own = np.einsum("iin->in", self.squares)
        others = np.abs(self.squares).sum(axis=(0, 1)) - np.abs(own).sum(axis=0) / 2
        centre = self.centre + own.sum(axis=0) / 2
        return rounded(centre, self.coefficients, self.radius + others, self.rest + np.abs(centre))

    def __add__(self, other: Any) -> "Affine":
        other = form(other, self)
        return rounded(
            self.centre + other.centre,
            self.coefficients + other.coefficients,
            self.radius + other.radius,
            np.abs(self.centre) + np.abs(other.centre),
            None if self.squares is None else self.squares + other.squares,
        )

    def __neg__(self) -> "Affine":
        squares = None if self.squares is None else -self.squares
        return Affine(-self.centre, -self.coefficients, self.radius, squares)

    def __mul__(self, other: Any) -> "Affine":
        if isinstance(other, int | float):
            centre, size = self.centre * other, abs(other)
            squares = None if self.squares is None else self.squares * other
            return rounded(
                centre, self.coefficients * other, self.radius * size, np.abs(centre), squares
            )
        other = form(other, self)
        one_size, other_size = np.abs(self.centre), np.abs(other.centre)
        centre = self.centre * other.centre
        coefficients = self.centre * other.coefficients + other.centre * self.coefficients
        radius = one_size * other.radius + other_size * self.radius
        squares, products = None, self.reach * other.reach
        if self.squares is not None:
            squares = self.centre * other.squares + other.centre * self.squares
            squares += self.coefficients[:, None] * other.coefficients[None]
            one, two = self.rest, other.rest
            products = self.linear * two + other.linear * one + one * two
        radius = (radius + products) * (1 + 4 * ROUNDING)
        return rounded(centre, coefficients, radius, np.abs(centre), squares)

    def square(self) -> "Affine":
        return square(self)

    def __truediv__(self, other: Any) -> "Affine":
        if isinstance(other, int | float):
            # 1/other is off by a rounding, which ROUNDING covers.
            return self * (1.0 / other)
        return self * inverse(form(other, self))

    def __rtruediv__(self, other: Any) -> "Affine":
        return inverse(self) * other


def symbols(low: Values, high: Values) -> list[Affine]:
    """A form for each column of boxes `(N, D)`, each with a symbol of its own."""
    n, count = low.shape
    found = []
    for at in range(count):
        centre = low[:, at] / 2 + high[:, at] / 2
        half = np.maximum(high[:, at] - centre, centre - low[:, at])
        coefficients = np.zeros((count, n))
        coefficients[at] = half
        found.append(rounded(centre, coefficients, np.zeros(n), np.abs(centre)))
    return found


def with_squares(of: Affine) -> Affine:
    """The form as one whose products are kept: what is computed from it is off by third powers of
    its symbols only."""
    count, n = of.coefficients.shape
    return Affine(of.centre, of.coefficients, of.radius, np.zeros((count, count, n)))


def form(value: Any, like: Affine) -> Affine:
    """A number or an interval as a form of the same shape; a form as it is."""
    if isinstance(value, Affine):
        return value
    n = len(like.centre)
    of = interval(value)
    low, high = np.broadcast_to(of.low, n), np.broadcast_to(of.high, n)
    centre = low / 2 + high / 2
    half = np.maximum(high - centre, centre - low)
    radius = np.where(half > 0, half * (1 + ROUNDING), 0.0)
    squares = None if like.squares is None else np.zeros_like(like.squares)
    return Affine(centre, np.zeros_like(like.coefficients), radius, squares)


def rounded(
    centre: Values, coefficients: Values, radius: Values, size: Values, squares: Values = None
) -> Affine:
    """The form with its radius raised by what the operation's rounding can have lost."""
    total = size + np.abs(coefficients).sum(axis=0) + radius
    if squares is not None:
        total = total + np.abs(squares).sum(axis=(0, 1))
    return Affine(centre, coefficients, radius + (ROUNDING * total + TINY), squares)


def _bounds(value: Any) -> Interval:
    return value.bounds() if isinstance(value, Affine) else interval(value)


def square(of: Any) -> Any:
    if not isinstance(of, Affine):
        return INTERVALS.square(of)
    return _smooth(of, np.square(of.centre), 2 * of.centre, np.ones_like(of.centre), 1.0, None)


def inverse(of: Affine) -> Affine:
    """1 / of; unbounded where it may be zero."""
    bounds = of.bounds()
    has_zero = (bounds.low <= 0) & (bounds.high >= 0)
    c = np.where(has_zero, 1.0, of.centre)
    least = np.where(has_zero, 1.0, np.minimum(np.abs(bounds.low), np.abs(bounds.high)))
    steep = np.where(has_zero, np.inf, 1 + 16 * ROUNDING)
    return _smooth(of, 1 / c, -1 / c**2, 1 / c**3, steep / least**3, steep / least**4)


def _smooth(
    of: Affine, value: Values, slope: Values, bend: Values, curve: Values, twist: Values
) -> Affine:
    """A smooth function by its value, slope and half its second derivative (`bend`) at the centre.

    `curve` bounds the size of half its second derivative, `twist` that of a sixth of the third;
    None for a parabola. Where squares are kept the parabola is, else the tangent.
    """
    reach = of.reach
    if of.squares is None:
        error, squares = curve * reach * reach, None
        if twist is None:
            # d² lies in [0, reach²]: half of that is the middle.
            value, error = value + bend * reach * reach / 2, error / 2
    else:
        error = 0.0 if twist is None else twist * reach**3
        # The parabola's own products of what is not linear.
        error = error + np.abs(bend) * (2 * of.linear + of.rest) * of.rest
        squares = slope * of.squares + bend * (of.coefficients[:, None] * of.coefficients[None])
    error = error * (1 + 8 * ROUNDING) + 4 * ROUNDING * (np.abs(slope) * reach + np.abs(value))
    radius = np.abs(slope) * of.radius + error
    return rounded(value, slope * of.coefficients, radius, np.abs(value), squares)


class Forms:
    """NumPy's functions for affine forms, under NumPy's names; numbers and intervals pass
    through the functions for intervals."""

    pi, inf = np.pi, np.inf
    square = staticmethod(square)

    @staticmethod
    def sin(of: Any) -> Any:
        if not isinstance(of, Affine):
            return INTERVALS.sin(of)
        return _wave(of, "sin", np.sin(of.centre), np.cos(of.centre))

    @staticmethod
    def cos(of: Any) -> Any:
        if not isinstance(of, Affine):
            return INTERVALS.cos(of)
        return _wave(of, "cos", np.cos(of.centre), -np.sin(of.centre))

    @staticmethod
    def exp(of: Any) -> Any:
        return _opaque(of, "exp")

    @staticmethod
    def tanh(of: Any) -> Any:
        return _opaque(of, "tanh")

    @staticmethod
    def sqrt(of: Any) -> Any:
        return _opaque(of, "sqrt")

    @staticmethod
    def float32(of: Any) -> Any:
        if not isinstance(of, Affine):
            return INTERVALS.float32(of)
        size = np.abs(of.centre) + of.reach
        # The spacing of float32 is at most 2⁻²³ of a value, or the smallest there is.
        radius = of.radius + size * 2.0**-23 + 1e-44
        return Affine(of.centre, of.coefficients, radius, of.squares)

    @staticmethod
    def abs(of: Any) -> Any:
        if not isinstance(of, Affine):
            return INTERVALS.abs(of)
        bounds = of.bounds()
        return _choose(bounds.low >= 0, of, bounds.high <= 0, -of, INTERVALS.abs(bounds))

    absolute = abs

    @staticmethod
    def minimum(one: Any, other: Any) -> Any:
        like = one if isinstance(one, Affine) else other
        if not isinstance(like, Affine):
            return INTERVALS.minimum(one, other)
        first, second = _bounds(one), _bounds(other)
        both = INTERVALS.minimum(first, second)
        one, other = form(one, like), form(other, like)
        return _choose(first.high <= second.low, one, second.high <= first.low, other, both)

    @classmethod
    def maximum(cls, one: Any, other: Any) -> Any:
        return -cls.minimum(-one, -other)

    @classmethod
    def clip(cls, of: Any, low: Any, high: Any) -> Any:
        return cls.minimum(cls.maximum(of, low), high)

    def where(self, condition: Any, one: Any, other: Any) -> Any:
        like = one if isinstance(one, Affine) else other
        if not isinstance(like, Affine):
            return INTERVALS.where(condition, one, other)
        given = truth(condition)
        both = INTERVALS.where(given, _bounds(one), _bounds(other))
        shape = like.centre.shape
        certain, impossible = (
            np.broadcast_to(each, shape) for each in (given.certain, ~given.possible)
        )
        return _choose(certain, form(one, like), impossible, form(other, like), both)


class Cases(Forms):
    """Forms for one case of a plant's equations: some conditions are answered as told.

    `is_open` notes for each condition that is asked for the rows that leave it open.
    """

    def __init__(self, answers: Mapping[int, bool]) -> None:
        self.answers, self.is_open = answers, list[Values]()

    def where(self, condition: Any, one: Any, other: Any) -> Any:
        given = truth(condition)
        if len(self.is_open) in self.answers:
            given = truth(np.full_like(given.certain, self.answers[len(self.is_open)]))
        self.is_open.append(given.possible & ~given.certain)
        return super().where(given, one, other)


def _choose(is_one: Values, one: Affine, is_other: Values, other: Affine, both: Interval) -> Any:
    """Row by row one form or another, or an interval that holds either."""
    rest = form(both, one)

    def pick(name: str) -> Values:
        a, b, c = (getattr(each, name) for each in (one, other, rest))
        return None if a is None else np.where(is_one, a, np.where(is_other, b, c))

    return Affine(pick("centre"), pick("coefficients"), pick("radius"), pick("squares"))


def _wave(of: Affine, name: str, value: Values, slope: Values) -> Affine:
    """A sine or cosine, or its plain interval where that says more."""
    bounds = of.bounds()
    plain = getattr(INTERVALS, name)(bounds)
    turned = getattr(INTERVALS, "cos" if name == "sin" else "sin")(bounds)
    curve, twist = _largest(plain) / 2, _largest(turned) / 6
    found = _smooth(of, value, slope, -value / 2, curve * (1 + 4 * ROUNDING), twist)
    rest = form(plain, of)
    keep = found.reach <= 2 * rest.radius
    return _choose(keep, found, ~keep, rest, Interval(-1.0, 1.0))


def _largest(of: Interval) -> Values:
    return np.maximum(np.abs(of.low), np.abs(of.high)) * (1 + 4 * ROUNDING)


def _opaque(of: Any, name: str) -> Any:
    """A function of the bounds alone."""
    if not isinstance(of, Affine):
        return getattr(INTERVALS, name)(of)
    return form(getattr(INTERVALS, name)(of.bounds()), of)


FORMS = Forms()
