"""Affine forms: intervals that remember which inputs they depend on, thousands at a time.

A form is `centre + Σ coefficients[i] · e[i] + radius · e`, with every e anywhere in [-1, 1]. Where
intervals lose that `x - 0.5 x` is half an x, forms do not. The radius takes up whatever is not
linear and the rounding of every operation, both ours and that of a program that computes the same
in float64. `FORMS` is the module a plant's equations get in the place of NumPy.
"""

from typing import Any

import numpy as np

from crisptree.verify.intervals import INTERVALS, Interval, Truth, Values, interval, truth

ROUNDING = 2.0**-50
"""Relative to the sizes that enter an operation; the errors of one are below a quarter of it."""
TINY = 1e-300


class Affine:
    """`centre` and `radius` are `(N,)`, `coefficients` `(symbols, N)`."""

    __slots__ = ("centre", "coefficients", "radius")
    __array_ufunc__ = None

    def __init__(self, centre: Values, coefficients: Values, radius: Values) -> None:
        self.centre, self.coefficients, self.radius = centre, coefficients, radius

    @property
    def reach(self) -> Values:
        """How far the form can lie from its centre, rounded up."""
        return (np.abs(self.coefficients).sum(axis=0) + self.radius) * (1 + ROUNDING) + TINY

    def bounds(self) -> Interval:
        reach = self.reach
        low, high = self.centre - reach, self.centre + reach
        return Interval(np.nextafter(low, -np.inf), np.nextafter(high, np.inf))

    def __add__(self, other: Any) -> "Affine":
        other = form(other, self)
        return rounded(
            self.centre + other.centre,
            self.coefficients + other.coefficients,
            self.radius + other.radius,
            np.abs(self.centre) + np.abs(other.centre),
        )

    def __neg__(self) -> "Affine":
        return Affine(-self.centre, -self.coefficients, self.radius)

    def __pos__(self) -> "Affine":
        return self

    def __sub__(self, other: Any) -> "Affine":
        return self + -form(other, self)

    def __rsub__(self, other: Any) -> "Affine":
        return -self + other

    def __mul__(self, other: Any) -> "Affine":
        if isinstance(other, int | float):
            centre, size = self.centre * other, abs(other)
            return rounded(centre, self.coefficients * other, self.radius * size, np.abs(centre))
        other = form(other, self)
        one_size, other_size = np.abs(self.centre), np.abs(other.centre)
        centre = self.centre * other.centre
        radius = (one_size * other.radius + other_size * self.radius + self.reach * other.reach) * (
            1 + ROUNDING
        )
        coefficients = self.centre * other.coefficients + other.centre * self.coefficients
        return rounded(centre, coefficients, radius, np.abs(centre))

    def __truediv__(self, other: Any) -> "Affine":
        if isinstance(other, int | float):
            # 1/other is off by a rounding, which ROUNDING covers.
            return self * (1.0 / other)
        return self * inverse(form(other, self))

    def __rtruediv__(self, other: Any) -> "Affine":
        return inverse(self) * other

    def __pow__(self, exponent: int) -> "Affine":
        if exponent == 2:
            return square(self)
        if exponent < 1 or exponent != int(exponent):
            raise TypeError("affine forms have powers 1, 2, 3, …")
        found = self
        for _ in range(int(exponent) - 1):
            found = found * self
        return found

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Any) -> Truth:
        return self.bounds() < _bounds(other)

    def __le__(self, other: Any) -> Truth:
        return self.bounds() <= _bounds(other)

    def __gt__(self, other: Any) -> Truth:
        return self.bounds() > _bounds(other)

    def __ge__(self, other: Any) -> Truth:
        return self.bounds() >= _bounds(other)

    def __eq__(self, other: Any) -> Truth:  # type: ignore[override]
        return self.bounds() == _bounds(other)

    def __ne__(self, other: Any) -> Truth:  # type: ignore[override]
        return ~(self == other)

    __hash__ = None  # type: ignore[assignment]


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
    return Affine(centre, np.zeros_like(like.coefficients), radius)


def rounded(centre: Values, coefficients: Values, radius: Values, size: Values) -> Affine:
    """The form with its radius raised by what the operation's rounding can have lost."""
    total = size + np.abs(coefficients).sum(axis=0) + radius
    return Affine(centre, coefficients, radius + (ROUNDING * total + TINY))


def _bounds(value: Any) -> Interval:
    return value.bounds() if isinstance(value, Affine) else interval(value)


def linear(of: Affine, at: Values, slope: Values, error: Values) -> Affine:
    """`at + slope · (of - of.centre)`, off by at most `error`."""
    radius = np.abs(slope) * of.radius + error
    return rounded(at, slope * of.coefficients, radius, np.abs(at))


def square(of: Any) -> Any:
    if not isinstance(of, Affine):
        return INTERVALS.square(of)
    c, reach = of.centre, of.reach
    # (c + d)² = c² + 2 c d + d², and d² lies in [0, reach²]: half of that is the middle.
    half = reach * reach / 2
    return linear(of, c * c + half, 2 * c, half * (1 + ROUNDING))


def inverse(of: Affine) -> Affine:
    """1 / of; unbounded where it may be zero."""
    bounds = of.bounds()
    has_zero = (bounds.low <= 0) & (bounds.high >= 0)
    c = np.where(has_zero, 1.0, of.centre)
    least = np.where(has_zero, 1.0, np.minimum(np.abs(bounds.low), np.abs(bounds.high)))
    reach = np.where(has_zero, 0.0, of.reach)
    # The second derivative is 2/x³, so the tangent is off by at most reach²/least³.
    error = np.where(has_zero, np.inf, reach * reach / least**3 * (1 + 4 * ROUNDING))
    return linear(of, 1.0 / c, np.where(has_zero, 0.0, -1.0 / (c * c)), error)


def _tangent(of: Affine, value: Values, slope: Values, curve: Values | float) -> Affine:
    """A smooth function by its tangent at the centre; `curve` bounds its second derivative."""
    reach = of.reach
    error = reach * reach / 2 * curve * (1 + 4 * ROUNDING)
    return linear(of, value, slope, error + 4 * ROUNDING * (1 + np.abs(slope) * reach))


class Forms:
    """NumPy's functions for affine forms, under NumPy's names; numbers and intervals pass
    through the functions for intervals."""

    pi, inf = np.pi, np.inf
    square = staticmethod(square)

    @staticmethod
    def sin(of: Any) -> Any:
        if not isinstance(of, Affine):
            return INTERVALS.sin(of)
        curve = _largest(INTERVALS.sin(of.bounds()))
        return _narrower(_tangent(of, np.sin(of.centre), np.cos(of.centre), curve), of, "sin")

    @staticmethod
    def cos(of: Any) -> Any:
        if not isinstance(of, Affine):
            return INTERVALS.cos(of)
        curve = _largest(INTERVALS.cos(of.bounds()))
        return _narrower(_tangent(of, np.cos(of.centre), -np.sin(of.centre), curve), of, "cos")

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
        return Affine(of.centre, of.coefficients, of.radius + size * 2.0**-23 + 1e-44)

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

    @staticmethod
    def where(condition: Any, one: Any, other: Any) -> Any:
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


def _largest(of: Interval) -> Values:
    return np.maximum(np.abs(of.low), np.abs(of.high))


def _choose(is_one: Values, one: Affine, is_other: Values, other: Affine, both: Interval) -> Any:
    """Row by row one form or another, or an interval that holds either."""
    rest = form(both, one)
    return Affine(
        np.where(is_one, one.centre, np.where(is_other, other.centre, rest.centre)),
        np.where(
            is_one, one.coefficients, np.where(is_other, other.coefficients, rest.coefficients)
        ),
        np.where(is_one, one.radius, np.where(is_other, other.radius, rest.radius)),
    )


def _narrower(found: Affine, of: Affine, name: str) -> Affine:
    """The form, or the plain interval of the function where that says more."""
    plain = form(getattr(INTERVALS, name)(of.bounds()), of)
    keep = found.reach <= 2 * plain.radius
    return _choose(keep, found, ~keep, plain, Interval(-1.0, 1.0))


def _opaque(of: Any, name: str) -> Any:
    """A function of the bounds alone."""
    if not isinstance(of, Affine):
        return getattr(INTERVALS, name)(of)
    return form(getattr(INTERVALS, name)(of.bounds()), of)


FORMS = Forms()
