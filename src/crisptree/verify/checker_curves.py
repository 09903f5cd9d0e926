"""The checker's second derivatives: numbers with bounds on how fast they change, and how fast that.

A `Curved` holds the bounds of a function over a box, of its derivatives by each variable and of its
second derivatives by each pair of variables. `CURVED` is what a plant's equations get for NumPy.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.verify.checker_numbers import NUMBERS, Answer, Number, number

UNKNOWN = Number(-np.inf, np.inf)


class Curved:
    """`value` is `(N,)`, `slopes` `(variables, N)`, `curves` `(pairs, N)` in the order of
    `pairs`."""

    __slots__ = ("curves", "slopes", "value")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]
    is_curved = True

    def __init__(self, value: Any, slopes: Number, curves: Number) -> None:
        self.value, self.slopes, self.curves = number(value), slopes, curves

    def __add__(self, other: Any) -> "Curved":
        other = curved(other, self)
        slopes, curves = self.slopes + other.slopes, self.curves + other.curves
        return Curved(self.value + other.value, slopes, curves)

    def __neg__(self) -> "Curved":
        return Curved(-self.value, -self.slopes, -self.curves)

    def __pos__(self) -> "Curved":
        return self

    def __sub__(self, other: Any) -> "Curved":
        return self + -curved(other, self)

    def __rsub__(self, other: Any) -> "Curved":
        return -self + other

    def __mul__(self, other: Any) -> "Curved":
        if not isinstance(other, Curved):
            return Curved(self.value * other, self.slopes * other, self.curves * other)
        u, v = self, other
        slopes = u.slopes * v.value + v.slopes * u.value
        i, j = pairs(len(u.slopes.low))
        crossed = _at(u.slopes, i) * _at(v.slopes, j) + _at(u.slopes, j) * _at(v.slopes, i)
        curves = u.curves * v.value + v.curves * u.value + crossed
        return Curved(u.value * v.value, slopes, curves)

    def __truediv__(self, other: Any) -> "Curved":
        return self * (1.0 / other)

    def __rtruediv__(self, other: Any) -> "Curved":
        inverse = 1.0 / self.value
        square = NUMBERS.square(inverse)
        return _chain(self, inverse, -square, 2.0 * square * inverse) * other

    def __pow__(self, exponent: int) -> "Curved":
        if exponent == 2:
            return CURVED.square(self)
        found = self
        for _ in range(int(exponent) - 1):
            found = found * self
        return found

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Any) -> Any:
        return self.value < _value(other)

    def __le__(self, other: Any) -> Any:
        return self.value <= _value(other)

    def __gt__(self, other: Any) -> Any:
        return self.value > _value(other)

    def __ge__(self, other: Any) -> Any:
        return self.value >= _value(other)

    def __eq__(self, other: Any) -> Any:
        return self.value == _value(other)

    def __ne__(self, other: Any) -> Any:
        return self.value != _value(other)


def pairs(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs of variables, each once."""
    return np.tril_indices(count)


def curved(value: Any, like: Curved) -> Curved:
    """A number as a function that never changes; a `Curved` as it is."""
    if isinstance(value, Curved):
        return value
    none = np.zeros_like(like.slopes.low), np.zeros_like(like.curves.low)
    return Curved(value, Number(none[0], none[0]), Number(none[1], none[1]))


def _at(of: Number, rows: NDArray[np.int64]) -> Number:
    return Number(of.low[rows], of.high[rows])


def _value(of: Any) -> Any:
    return of.value if isinstance(of, Curved) else of


def _chain(of: Curved, value: Any, slope: Number, curve: Number) -> Curved:
    """A function of a function, given its own first and second derivative there."""
    i, j = pairs(len(of.slopes.low))
    curves = of.curves * slope + _at(of.slopes, i) * _at(of.slopes, j) * curve
    return Curved(value, of.slopes * slope, curves)


class CurvedFunctions:
    """NumPy's functions; what is no `Curved` goes to the checker's plain numbers."""

    pi, inf = np.pi, np.inf

    @staticmethod
    def sin(of: Any) -> Any:
        if not isinstance(of, Curved):
            return NUMBERS.sin(of)
        sine = NUMBERS.sin(of.value)
        return _chain(of, sine, NUMBERS.cos(of.value), -sine)

    @staticmethod
    def cos(of: Any) -> Any:
        if not isinstance(of, Curved):
            return NUMBERS.cos(of)
        cosine = NUMBERS.cos(of.value)
        return _chain(of, cosine, -NUMBERS.sin(of.value), -cosine)

    @staticmethod
    def square(of: Any) -> Any:
        if not isinstance(of, Curved):
            return NUMBERS.square(of)
        return _chain(of, NUMBERS.square(of.value), 2.0 * of.value, number(2.0))

    @staticmethod
    def exp(of: Any) -> Any:
        if not isinstance(of, Curved):
            return NUMBERS.exp(of)
        grown = NUMBERS.exp(of.value)
        return _chain(of, grown, grown, grown)

    @staticmethod
    def tanh(of: Any) -> Any:
        if not isinstance(of, Curved):
            return NUMBERS.tanh(of)
        found = NUMBERS.tanh(of.value)
        slope = 1.0 - NUMBERS.square(found)
        return _chain(of, found, slope, -2.0 * found * slope)

    @staticmethod
    def sqrt(of: Any) -> Any:
        if not isinstance(of, Curved):
            return NUMBERS.sqrt(of)
        found = NUMBERS.sqrt(of.value)
        inverse = 1.0 / found
        return _chain(of, found, 0.5 * inverse, -0.25 * inverse * NUMBERS.square(inverse))

    @classmethod
    def abs(cls, of: Any) -> Any:
        return cls.maximum(of, -of) if isinstance(of, Curved) else NUMBERS.abs(of)

    absolute = abs

    @classmethod
    def minimum(cls, one: Any, other: Any) -> Any:
        if not isinstance(one, Curved) and not isinstance(other, Curved):
            return NUMBERS.minimum(one, other)
        return cls.where(one <= other, one, other)

    @classmethod
    def maximum(cls, one: Any, other: Any) -> Any:
        return -cls.minimum(-one, -other)

    @classmethod
    def clip(cls, of: Any, low: Any, high: Any) -> Any:
        return cls.minimum(cls.maximum(of, low), high)

    @staticmethod
    def where(condition: Any, one: Any, other: Any) -> Any:
        """Where the condition is open nothing is known of how fast the value changes."""
        like = one if isinstance(one, Curved) else other
        if not isinstance(like, Curved):
            return NUMBERS.where(condition, one, other)
        one, other = curved(one, like), curved(other, like)
        answer = condition if isinstance(condition, Answer) else Answer(condition, condition)
        is_open = answer.may & ~answer.must

        def pick(a: Number, b: Number) -> Number:
            return NUMBERS.where(Answer(is_open, is_open), UNKNOWN, NUMBERS.where(answer, a, b))

        value = NUMBERS.where(answer, one.value, other.value)
        return Curved(value, pick(one.slopes, other.slopes), pick(one.curves, other.curves))

    @staticmethod
    def float32(of: Any) -> Any:
        """Rounding is no part of the real function; how far it leads away is the error that
        `Number` keeps."""
        return of if isinstance(of, Curved) else NUMBERS.float32(of)


CURVED = CurvedFunctions()
