"""Forms: numbers that remember how they depend on others, thousands at a time.

A form is a polynomial in symbols, each anywhere in [-1, 1], and a radius: values lie at most that
far from the polynomial. Where intervals lose that `x - 0.5 x` is half an x, forms do not. The
radius takes up the products that are not kept, and the rounding of every operation, both ours and
that of a program that computes the same in float64. `FORMS` is the module a plant's equations get
in the place of NumPy.
"""

from collections.abc import Mapping
from functools import cache
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.verify.intervals import INTERVALS, Interval, interval
from crisptree.verify.sound import Sound, Values, truth

TINY, SMALL = 1e-300, 1e-30
"""What is added where a share of a size may be nothing; where a root is too steep for a series."""


class Shape:
    """Which products of symbols the forms of a computation keep.

    The first symbols (`starts`) count once, the others (`rests`, which stand for small numbers)
    `degree - 1` times; a product is kept if its symbols count no more than the degree together.
    """

    def __init__(self, starts: int, degree: int, rests: int) -> None:
        self.starts, self.degree = starts, degree
        counts = np.array([1] * starts + [max(degree - 1, 1)] * rests)
        exponents = np.array(_exponents(counts.tolist(), degree))
        weights = exponents @ counts
        order = np.lexsort((*-exponents.T[::-1], weights))
        self.exponents: NDArray[np.int64] = exponents[order]
        """`(terms, symbols)`: the products that are kept, beginning with the empty one."""
        weights = weights[order]
        self.weight_begins = np.searchsorted(weights, np.arange(degree + 1))
        keys = self.exponents @ (degree + 1) ** np.arange(len(counts))
        by_key = np.argsort(keys)
        one, other = np.nonzero(weights[:, None] + weights <= degree)
        product = by_key[np.searchsorted(keys[by_key], keys[one] + keys[other])]
        sorted_ = np.argsort(product, kind="stable")
        self.one, self.other = one[sorted_], other[sorted_]
        """The terms that are multiplied, those for the same product side by side."""
        self.product_begins = np.searchsorted(product[sorted_], np.arange(len(keys)))
        self.symbols = [
            int(np.flatnonzero(keys == (degree + 1) ** at)[0]) for at in range(len(counts))
        ]
        """The term of each symbol alone."""
        self.has_rests: NDArray[np.bool_] = np.asarray(self.exponents[:, starts:].any(axis=1))
        self.loss = (len(keys) + 8) * 2.0**-51
        """The share of all sizes in an operation that rounding may lose: sums of n numbers lose up
        to n · 2⁻⁵³ of them."""


@cache
def shape_of(starts: int, degree: int = 1, rests: int = 0) -> Shape:
    return Shape(starts, degree, rests)


def _exponents(counts: list[int], left: int) -> list[tuple[int, ...]]:
    """All exponents of symbols that count so much, up to `left` together."""
    if not counts:
        return [()]
    return [
        (power, *rest)
        for power in range(left // counts[0] + 1)
        for rest in _exponents(counts[1:], left - power * counts[0])
    ]


class Form(Sound):
    """`terms` are `(terms of the shape, N)`, `radius` is `(N,)`."""

    __slots__ = ("radius", "shape", "terms")

    def __init__(self, shape: Shape, terms: Values, radius: Values) -> None:
        self.shape, self.terms, self.radius = shape, terms, radius

    @property
    def centre(self) -> Values:
        return self.terms[0]

    @property
    def reach(self) -> Values:
        """How far the form can lie from its centre, rounded up."""
        return (np.abs(self.terms[1:]).sum(axis=0) + self.radius) * (1 + self.shape.loss)

    def bounds(self) -> Interval:
        reach = self.reach
        low, high = self.centre - reach, self.centre + reach
        exact, unknown = reach == 0, ~(np.isfinite(low) & np.isfinite(high))
        low = np.where(exact, low, np.nextafter(low, -np.inf))
        high = np.where(exact, high, np.nextafter(high, np.inf))
        return Interval(np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high))

    def ends(self) -> tuple[Values, Values]:
        bounds = self.bounds()
        return bounds.low, bounds.high

    def take(self, rows: Any) -> "Form":
        return Form(self.shape, self.terms[:, rows], self.radius[rows])

    def __add__(self, other: Any) -> "Form":
        other = form(other, self)
        return _rounded(self.shape, self.terms + other.terms, self.radius + other.radius)

    def __neg__(self) -> "Form":
        return Form(self.shape, -self.terms, self.radius)

    def __mul__(self, other: Any) -> "Form":
        if isinstance(other, int | float):
            return _rounded(self.shape, self.terms * other, self.radius * abs(other))
        with np.errstate(invalid="ignore", over="ignore"):  # nothing times what has no bounds
            return self._times(form(other, self))

    def _times(self, other: "Form") -> "Form":
        shape = self.shape
        products = self.terms[shape.one] * other.terms[shape.other]
        terms = np.add.reduceat(products, shape.product_begins, axis=0)
        one, two = (
            np.add.reduceat(np.abs(each.terms), shape.weight_begins, axis=0)
            for each in (self, other)
        )
        beyond = np.cumsum(two[::-1], axis=0)  # the sizes of weight degree, degree - 1 or more, …
        not_kept = (one[1:] * beyond[:-1]).sum(axis=0)
        one, two = one.sum(axis=0), two.sum(axis=0)
        radius = not_kept + one * other.radius + two * self.radius + self.radius * other.radius
        return _rounded(shape, terms, radius, one * two)

    def square(self) -> "Form":
        if self.shape.degree > 1:
            return self * self
        # d² lies in [0, reach²]: half of that is the middle.
        half = np.square(self.reach) / 2
        found = _scaled(self, 2 * self.centre)
        found.terms[0] = np.square(self.centre) + half
        return _rounded(self.shape, found.terms, found.radius + half)

    def __truediv__(self, other: Any) -> "Form":
        if isinstance(other, int | float):
            # 1/other is off by a rounding, which the loss covers.
            return self * (1.0 / other)
        return self * _inverse(form(other, self))

    def __rtruediv__(self, other: Any) -> "Form":
        return _inverse(self) * other


def symbols(low: Values, high: Values, degree: int = 1, rests: int = 0) -> list[Form]:
    """A form for each column of boxes `(N, D)`, each with a symbol of its own; `rests` further
    symbols are not used yet."""
    n, count = low.shape
    shape = shape_of(count, degree, rests)
    found = []
    for at in range(count):
        terms = np.zeros((len(shape.exponents), n))
        terms[0] = low[:, at] / 2 + high[:, at] / 2
        half = np.maximum(high[:, at] - terms[0], terms[0] - low[:, at])
        terms[shape.symbols[at]] = half
        made = _rounded(shape, terms, np.zeros(n))
        made.radius[half == 0] = 0.0  # a waiting action, say, is known exactly
        found.append(made)
    return found


def form(value: Any, like: Form) -> Form:
    """A number or an interval as a form of the same shape; a form as it is."""
    if isinstance(value, Form):
        return value
    n = len(like.radius)
    of = interval(value)
    low, high = np.broadcast_to(of.low, n), np.broadcast_to(of.high, n)
    terms = np.zeros_like(like.terms)
    bounded = np.isfinite(low) & np.isfinite(high)
    terms[0] = np.where(bounded, low, 0.0) / 2 + np.where(bounded, high, 0.0) / 2
    half = np.maximum(high - terms[0], terms[0] - low)
    return Form(like.shape, terms, np.where(half == 0, 0.0, half * (1 + like.shape.loss)))


def _rounded(shape: Shape, terms: Values, radius: Values, size: Values = 0.0) -> Form:
    """The form with its radius raised by what the operation's rounding can have lost; `size` is
    that of what was added up, where it may be more than the sums."""
    total = size + np.abs(terms).sum(axis=0) + radius
    return Form(shape, terms, radius + (shape.loss * total + TINY))


def _scaled(of: Form, by: Values) -> Form:
    return _rounded(of.shape, of.terms * by, of.radius * np.abs(by))


def _inverse(of: Form) -> Form:
    """1 / of; unbounded where it may be zero."""
    bounds, degree = of.bounds(), of.shape.degree
    has_zero = (bounds.low <= 0) & (bounds.high >= 0)
    c = np.where(has_zero, 1.0, of.centre)
    least = np.where(has_zero, 1.0, np.minimum(np.abs(bounds.low), np.abs(bounds.high)))
    factors = [(-1) ** power / c ** (power + 1) for power in range(degree + 1)]
    last = np.where(has_zero, np.inf, 1 / least ** (degree + 2))
    return _series(of, factors, last)


def _series(of: Form, factors: list[Values], last: Values) -> Form:
    """A smooth function by Taylor's theorem: `factors` are its derivatives at the centre, each over
    its factorial; `last` bounds the size of the next one everywhere."""
    reach, shape = of.reach, of.shape
    terms = of.terms.copy()
    terms[0] = 0.0
    away = Form(shape, terms, of.radius)
    with np.errstate(invalid="ignore", over="ignore"):
        found = _scaled(away, factors[-1])
        for factor in factors[-2:0:-1]:
            found.terms[0] += factor
            found = found * away
        found.terms[0] += factors[0]
        sizes = sum(np.abs(factor) * reach**power for power, factor in enumerate(factors))
        error = last * reach ** (shape.degree + 1) * (1 + 16 * shape.loss)
        return _rounded(shape, found.terms, found.radius + error, 8 * sizes)


class Forms:
    """NumPy's functions for forms, under NumPy's names; numbers and intervals pass through the
    functions for intervals."""

    pi, inf = np.pi, np.inf

    @staticmethod
    def square(of: Any) -> Any:
        return of.square() if isinstance(of, Form) else INTERVALS.square(of)

    @staticmethod
    def sin(of: Any) -> Any:
        return _wave(of, 0) if isinstance(of, Form) else INTERVALS.sin(of)

    @staticmethod
    def cos(of: Any) -> Any:
        return _wave(of, 1) if isinstance(of, Form) else INTERVALS.cos(of)

    @staticmethod
    def exp(of: Any) -> Any:
        if not isinstance(of, Form):
            return INTERVALS.exp(of)
        plain, degree = INTERVALS.exp(of.bounds()), of.shape.degree
        centre = np.exp(of.centre)
        factors = [centre / factorial(power) for power in range(degree + 1)]
        return _or_plain(_series(of, factors, plain.high / factorial(degree + 1)), plain)

    @classmethod
    def tanh(cls, of: Any) -> Any:
        if not isinstance(of, Form):
            return INTERVALS.tanh(of)
        return _or_plain(1.0 - 2.0 / (cls.exp(2.0 * of) + 1.0), INTERVALS.tanh(of.bounds()))

    @staticmethod
    def sqrt(of: Any) -> Any:
        if not isinstance(of, Form):
            return INTERVALS.sqrt(of)
        bounds, degree = of.bounds(), of.shape.degree
        positive = bounds.low > SMALL
        c, least = np.where(positive, of.centre, 1.0), np.where(positive, bounds.low, 1.0)
        factors = [_half_over(power) * np.sqrt(c) / c**power for power in range(degree + 1)]
        steepest = abs(_half_over(degree + 1)) * np.sqrt(least) / least ** (degree + 1)
        last = np.where(positive, steepest, np.inf)
        return _or_plain(_series(of, factors, last), INTERVALS.sqrt(bounds))

    @staticmethod
    def float32(of: Any) -> Any:
        if not isinstance(of, Form):
            return INTERVALS.float32(of)
        size = np.abs(of.centre) + of.reach
        # The spacing of float32 is at most 2⁻²³ of a value, or the smallest there is.
        return Form(of.shape, of.terms, of.radius + size * 2.0**-23 + 1e-44)

    @staticmethod
    def abs(of: Any) -> Any:
        if not isinstance(of, Form):
            return INTERVALS.abs(of)
        bounds = of.bounds()
        return _choose(bounds.low >= 0, of, bounds.high <= 0, -of, INTERVALS.abs(bounds))

    absolute = abs

    @staticmethod
    def minimum(one: Any, other: Any) -> Any:
        like = one if isinstance(one, Form) else other
        if not isinstance(like, Form):
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
        like = one if isinstance(one, Form) else other
        if not isinstance(like, Form):
            return INTERVALS.where(condition, one, other)
        given = truth(condition)
        both = INTERVALS.where(given, _bounds(one), _bounds(other))
        shape = like.radius.shape
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


def _bounds(value: Any) -> Interval:
    return value.bounds() if isinstance(value, Form) else interval(value)


def _half_over(power: int) -> float:
    """The binomial coefficient of 1/2 over a power."""
    return (-1) ** (power + 1) * comb(2 * power, power) / (4**power * (2 * power - 1))


def _choose(is_one: Values, one: Form, is_other: Values, other: Form, both: Interval) -> Form:
    """Row by row one form or another, or an interval that holds either."""
    rest = form(both, one)
    return Form(
        one.shape,
        np.where(is_one, one.terms, np.where(is_other, other.terms, rest.terms)),
        np.where(is_one, one.radius, np.where(is_other, other.radius, rest.radius)),
    )


def _or_plain(found: Form, plain: Interval) -> Form:
    """The form, or the plain interval where that says clearly more."""
    rest = form(plain, found)
    # Where squares are kept, a form whose polynomial reaches further may still say more.
    keep = (found.radius if found.shape.degree > 1 else found.reach / 2) <= rest.radius
    return _choose(keep, found, ~keep, rest, plain)


def _wave(of: Form, quarter: int) -> Form:
    """A sine, or a cosine if it is a quarter ahead."""
    bounds, degree = of.bounds(), of.shape.degree
    sine, cosine = np.sin(of.centre), np.cos(of.centre)
    cycle = (sine, cosine, -sine, -cosine)
    factors = [cycle[(power + quarter) % 4] / factorial(power) for power in range(degree + 1)]
    plain, turned = INTERVALS.sin(bounds), INTERVALS.cos(bounds)
    next_ = plain if (degree + 1 + quarter) % 2 == 0 else turned
    last = np.maximum(np.abs(next_.low), np.abs(next_.high)) / factorial(degree + 1)
    return _or_plain(_series(of, factors, last), turned if quarter else plain)


FORMS = Forms()
