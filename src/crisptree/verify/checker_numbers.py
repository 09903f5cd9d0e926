"""The checker's arithmetic: bounds widened by a share of their size, with slopes where asked for.

A number holds every result of the real function and of a program that computes it in float64. Its
slopes bound the derivatives of the real function by each variable; `error` bounds how far the
program's result can be from the real one. `NUMBERS` is what a plant's equations get for NumPy.
"""

from typing import Any

import numpy as np

SHARE = 2.0**-51
"""Twice the largest relative error of one operation."""
FUNCTIONS = 2.0**-49
"""The same for sine, cosine and the like."""
LEAST = 1e-306
FULL_TURN = 2 * np.pi

Values = Any
"""An array `(N,)`, or one number for all rows."""
Slopes = list[tuple[Values, Values]]


def _down(value: Any, share: float = SHARE) -> Values:
    return value - (np.abs(value) * share + LEAST)


def _up(value: Any, share: float = SHARE) -> Values:
    return value + (np.abs(value) * share + LEAST)


def _total(a: Any, b: Any, widen: Any) -> Values:
    """A sum, widened unless no digit of it was lost (Knuth's two-sum)."""
    total = a + b
    with np.errstate(invalid="ignore"):
        back = total - b
        rest = (a - back) + (b - (total - back))
    return np.where(rest == 0, total, widen(total))


def _product(a: Any, b: Any, c: Any, d: Any) -> tuple[Values, Values]:
    """[a, b] times [c, d]; zero times infinity counts as unbounded."""
    with np.errstate(invalid="ignore"):
        one, two, three, four = a * c, a * d, b * c, b * d
    low = np.minimum(np.minimum(one, two), np.minimum(three, four))
    high = np.maximum(np.maximum(one, two), np.maximum(three, four))
    unknown = np.isnan(low)
    if np.ndim(c) == 0 and np.ndim(d) == 0 and c == d == 0:
        return np.zeros_like(low), np.zeros_like(high)
    return np.where(unknown, -np.inf, _down(low)), np.where(unknown, np.inf, _up(high))


class Number:
    """Bounds `(N,)` or `()`, slopes by variable or None, and the program's error."""

    __slots__ = ("error", "high", "low", "slopes")
    __array_ufunc__ = None

    def __init__(self, low: Any, high: Any, slopes: Slopes | None = None, error: Any = 0.0) -> None:
        self.low, self.high = np.asarray(low, np.float64), np.asarray(high, np.float64)
        self.slopes, self.error = slopes, error

    @property
    def size(self) -> Values:
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def around(
        self, low: Values, high: Values, box_low: Values, box_high: Values, middle: Values
    ) -> tuple[Values, Values]:
        """Bounds by the mean value theorem, given the bounds at the middle of each box."""
        assert self.slopes is not None
        for at, (least, most) in enumerate(self.slopes):
            step = _down(box_low[:, at] - middle[:, at]), _up(box_high[:, at] - middle[:, at])
            part = _product(least, most, *step)
            low, high = _down(low + part[0]), _up(high + part[1])
        # Once for the program's result at the middle, once for the result that is asked about.
        return _down(low - 2 * self.error), _up(high + 2 * self.error)

    def __add__(self, other: Any) -> "Number":
        if _is_more(other):
            return NotImplemented
        other = number(other)
        low, high = _total(self.low, other.low, _down), _total(self.high, other.high, _up)
        slopes = _both(self, other, lambda a, b: (_down(a[0] + b[0]), _up(a[1] + b[1])))
        return _rounded(low, high, slopes, self.error + other.error)

    def __neg__(self) -> "Number":
        slopes = self.slopes and [(-high, -low) for low, high in self.slopes]
        return Number(-self.high, -self.low, slopes, self.error)

    def __pos__(self) -> "Number":
        return self

    def __sub__(self, other: Any) -> "Number":
        return self + -other

    def __rsub__(self, other: Any) -> "Number":
        return -self + other

    def __mul__(self, other: Any) -> "Number":
        if _is_more(other):
            return NotImplemented
        if isinstance(other, int | float) and other and self.slopes is None:
            ends = (self.low * other, self.high * other)[:: 1 if other > 0 else -1]
            return Number(_down(ends[0]), _up(ends[1]))
        other = number(other)
        low, high = _product(self.low, self.high, other.low, other.high)

        def rule(a: Any, b: Any) -> tuple[Values, Values]:
            left = _product(a[0], a[1], other.low, other.high)
            right = _product(b[0], b[1], self.low, self.high)
            return _down(left[0] + right[0]), _up(left[1] + right[1])

        slopes = _both(self, other, rule)
        if slopes is None:
            return Number(low, high)
        with np.errstate(invalid="ignore"):
            error = self.size * other.error + other.size * self.error
        return _rounded(low, high, slopes, np.where(np.isnan(error), np.inf, error))

    def __truediv__(self, other: Any) -> "Number":
        if _is_more(other):
            return NotImplemented
        other = number(other)
        return self * _inverse(other)

    def __rtruediv__(self, other: Any) -> "Number":
        return _inverse(self) * other

    def __pow__(self, exponent: int) -> "Number":
        if exponent == 2:
            return NUMBERS.square(self)
        found = self
        for _ in range(int(exponent) - 1):
            found = found * self
        return found

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Any) -> Any:
        other = number(other)
        return Answer(self.high < other.low, self.low < other.high)

    def __le__(self, other: Any) -> Any:
        other = number(other)
        return Answer(self.high <= other.low, self.low <= other.high)

    def __gt__(self, other: Any) -> Any:
        return number(other) < self

    def __ge__(self, other: Any) -> Any:
        return number(other) <= self

    def __eq__(self, other: Any) -> Any:
        other = number(other)
        may = (self.low <= other.high) & (other.low <= self.high)
        return Answer(
            may & (self.size == other.size) & (self.low == self.high) & (other.low == other.high),
            may,
        )

    def __ne__(self, other: Any) -> Any:
        return ~(self == other)

    __hash__ = None  # type: ignore[assignment]


def _is_more(value: Any) -> bool:
    """Whether it is a polynomial: those know plain numbers, not the reverse."""
    return getattr(value, "is_polynomial", False)


class Answer:
    """Where a comparison must be true, and where it may be."""

    __array_ufunc__ = None

    def __init__(self, must: Any, may: Any) -> None:
        self.must, self.may = np.asarray(must), np.asarray(may)

    def __and__(self, other: Any) -> "Answer":
        other = _answer(other)
        return Answer(self.must & other.must, self.may & other.may)

    def __or__(self, other: Any) -> "Answer":
        other = _answer(other)
        return Answer(self.must | other.must, self.may | other.may)

    def __invert__(self) -> "Answer":
        return Answer(~self.may, ~self.must)

    __rand__, __ror__ = __and__, __or__


def _answer(value: Any) -> Answer:
    return value if isinstance(value, Answer) else Answer(value, value)


def number(value: Any) -> Number:
    """A value without width, or the bounds of a polynomial, as a number."""
    if _is_more(value):
        return value.hull()
    return value if isinstance(value, Number) else Number(value, value)


def variables(low: Values, high: Values, with_slopes: bool = False) -> list[Number]:
    """A number for each column of boxes; with slopes each is its own variable."""
    n, count = low.shape
    found = []
    for at in range(count):
        slopes = None
        if with_slopes:
            own = [np.full(n, float(at == each)) for each in range(count)]
            slopes = [(each, each) for each in own]
        found.append(Number(low[:, at], high[:, at], slopes))
    return found


def hull_of(values: Any, n: int) -> tuple[Values, Values]:
    """The bounds of several numbers as columns."""
    found = [number(value) for value in values]
    return (
        np.stack([np.broadcast_to(each.low, n) for each in found], 1),
        np.stack([np.broadcast_to(each.high, n) for each in found], 1),
    )


def _both(one: Number, other: Number, rule: Any) -> Slopes | None:
    """Slopes of a result by the rule for each variable's pair of slopes."""
    if one.slopes is None and other.slopes is None:
        return None
    count = len(one.slopes or other.slopes or ())
    none = [(np.array(0.0), np.array(0.0))] * count
    return [rule(a, b) for a, b in zip(one.slopes or none, other.slopes or none, strict=True)]


def _rounded(low: Values, high: Values, slopes: Slopes | None, error: Any) -> Number:
    if slopes is None:
        return Number(low, high)
    size = np.maximum(np.abs(low), np.abs(high))
    return Number(low, high, slopes, _up(error + size * SHARE))


def _chain(of: Number, low: Any, high: Any, least: Any, most: Any) -> Number:
    """A function with these bounds whose derivative lies in [least, most]."""
    if of.slopes is None:
        return Number(low, high)
    slopes = [_product(*slope, least, most) for slope in of.slopes]
    steep = np.maximum(np.abs(least), np.abs(most))
    size = np.maximum(np.abs(low), np.abs(high))
    with np.errstate(invalid="ignore"):
        error = _up(of.error * steep + size * FUNCTIONS)
    return Number(low, high, slopes, np.where(np.isnan(error), np.inf, error))


def _inverse(of: Number) -> Number:
    zero = (of.low <= 0) & (of.high >= 0)
    low, high = np.where(zero, 1.0, of.low), np.where(zero, 1.0, of.high)
    least, most = _down(1 / high), _up(1 / low)
    steepest = -_up(np.maximum(least * least, most * most))
    flattest = -_down(np.minimum(least * least, most * most))
    return _chain(
        of,
        np.where(zero, -np.inf, least),
        np.where(zero, np.inf, most),
        np.where(zero, -np.inf, steepest),
        np.where(zero, np.inf, flattest),
    )


def _wave(function: Any, of: Number, top: float) -> tuple[Values, Values]:
    """Bounds of a sine or cosine that has a top at `top`."""
    a, b = function(of.low), function(of.high)
    low, high = _down(np.minimum(a, b), FUNCTIONS), _up(np.maximum(a, b), FUNCTIONS)
    spare = 1e-11 * (1 + of.size)

    def meets(point: float) -> Values:
        turns = np.floor((of.high + spare - point) / FULL_TURN)
        # One turn fewer as well, should the division have rounded up.
        return (turns * FULL_TURN + point >= of.low - spare) & np.isfinite(turns) | ~np.isfinite(
            turns
        )

    low = np.where(meets(top + np.pi), -1.0, np.maximum(low, -1.0))
    return low, np.where(meets(top), 1.0, np.minimum(high, 1.0))


class Numbers:
    """NumPy's functions for the checker's numbers."""

    pi, inf = np.pi, np.inf

    @staticmethod
    def sin(of: Any) -> Number:
        of = number(of)
        return _chain(of, *_wave(np.sin, of, np.pi / 2), *_wave(np.cos, of, 0.0))

    @staticmethod
    def cos(of: Any) -> Number:
        of = number(of)
        low, high = _wave(np.sin, of, np.pi / 2)
        return _chain(of, *_wave(np.cos, of, 0.0), -high, -low)

    @staticmethod
    def square(of: Any) -> Number:
        of = number(of)
        low, high = np.minimum(of.low**2, of.high**2), np.maximum(of.low**2, of.high**2)
        low = np.where((of.low < 0) & (of.high > 0), 0.0, _down(low))
        return _chain(of, np.maximum(low, 0.0), _up(high), 2 * of.low, 2 * of.high)

    @staticmethod
    def exp(of: Any) -> Number:
        of = number(of)
        low, high = _down(np.exp(of.low), FUNCTIONS), _up(np.exp(of.high), FUNCTIONS)
        return _chain(of, np.maximum(low, 0.0), high, np.maximum(low, 0.0), high)

    @staticmethod
    def tanh(of: Any) -> Number:
        of = number(of)
        low, high = _down(np.tanh(of.low), FUNCTIONS), _up(np.tanh(of.high), FUNCTIONS)
        return _chain(of, np.maximum(low, -1.0), np.minimum(high, 1.0), 0.0, 1.0)

    @staticmethod
    def sqrt(of: Any) -> Number:
        of = number(of)
        low, high = np.sqrt(np.maximum(of.low, 0.0)), np.sqrt(np.maximum(of.high, 0.0))
        with np.errstate(divide="ignore"):
            steepest = np.where(low > 0, _up(0.5 / np.maximum(_down(low), LEAST)), np.inf)
        return _chain(of, np.maximum(_down(low), 0.0), _up(high), 0.0, steepest)

    @staticmethod
    def abs(of: Any) -> Number:
        of = number(of)
        low = np.maximum(0.0, np.maximum(of.low, -of.high))
        least = np.where(of.low >= 0, 1.0, -1.0)
        return _chain(of, low, of.size, least, np.where(of.high <= 0, -1.0, 1.0))

    absolute = abs

    @staticmethod
    def minimum(one: Any, other: Any) -> Number:
        one, other = number(one), number(other)

        def rule(a: Any, b: Any) -> tuple[Values, Values]:
            first, second = one.high <= other.low, other.high <= one.low
            low, high = np.minimum(a[0], b[0]), np.maximum(a[1], b[1])
            return (
                np.where(first, a[0], np.where(second, b[0], low)),
                np.where(first, a[1], np.where(second, b[1], high)),
            )

        low, high = np.minimum(one.low, other.low), np.minimum(one.high, other.high)
        return Number(low, high, _both(one, other, rule), np.maximum(one.error, other.error))

    @classmethod
    def maximum(cls, one: Any, other: Any) -> Number:
        return -cls.minimum(-number(one), -number(other))

    @classmethod
    def clip(cls, of: Any, low: Any, high: Any) -> Number:
        return cls.minimum(cls.maximum(of, low), high)

    @staticmethod
    def where(condition: Any, one: Any, other: Any) -> Number:
        """Where the condition is open the function may jump, so that nothing is known of its
        slope."""
        answer, one, other = _answer(condition), number(one), number(other)
        open_ = answer.may & ~answer.must

        def pick(a: Any, b: Any) -> Values:
            return np.where(answer.must, a, b)

        def rule(a: Any, b: Any) -> tuple[Values, Values]:
            return (
                np.where(open_, -np.inf, pick(a[0], b[0])),
                np.where(open_, np.inf, pick(a[1], b[1])),
            )

        low = np.where(open_, np.minimum(one.low, other.low), pick(one.low, other.low))
        high = np.where(open_, np.maximum(one.high, other.high), pick(one.high, other.high))
        return Number(low, high, _both(one, other, rule), np.maximum(one.error, other.error))

    @staticmethod
    def float32(of: Any) -> Number:
        of = number(of)
        low, high = of.low.astype(np.float32), of.high.astype(np.float32)
        error = of.error
        if of.slopes is not None:
            error = _up(of.error + of.size * 2.0**-23 + 1e-44)
        return Number(low, high, of.slopes, error)


NUMBERS = Numbers()
