"""The checker's second derivatives: numbers with bounds on how fast they change, and how fast that.

A `Curved` holds the bounds of a function over a box, of its derivatives by each variable and of its
second derivatives by each pair of variables, all of them `Number`s; None stands for zero. `CURVED`
is what a plant's equations get for NumPy.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from crisptree.verify.checker_numbers import NUMBERS, Answer, Number, number

Maybe = Number | None
UNKNOWN = Number(-np.inf, np.inf)


class Curved:
    """A function's value, its slopes `[i]`, and its curves `[i][j]` for `j <= i`."""

    __slots__ = ("curves", "slopes", "value")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any, slopes: list[Maybe], curves: list[list[Maybe]]) -> None:
        self.value, self.slopes, self.curves = number(value), slopes, curves

    def __add__(self, other: Any) -> "Curved":
        other = curved(other, self)
        return _joined(self, other, self.value + other.value, _sum)

    def __neg__(self) -> "Curved":
        return _mapped(self, -self.value, lambda each: -each)

    def __pos__(self) -> "Curved":
        return self

    def __sub__(self, other: Any) -> "Curved":
        return self + -curved(other, self)

    def __rsub__(self, other: Any) -> "Curved":
        return -self + other

    def __mul__(self, other: Any) -> "Curved":
        if not isinstance(other, Curved):
            return _mapped(self, self.value * other, lambda each: each * other)
        u, v = self, other
        slopes = [
            _sum(_times(a, v.value), _times(b, u.value))
            for a, b in zip(u.slopes, v.slopes, strict=True)
        ]
        curves = [
            [
                _sum(
                    _sum(_times(u.curves[i][j], v.value), _times(v.curves[i][j], u.value)),
                    _sum(_times(u.slopes[i], v.slopes[j]), _times(u.slopes[j], v.slopes[i])),
                )
                for j in range(i + 1)
            ]
            for i in range(len(slopes))
        ]
        return Curved(u.value * v.value, slopes, curves)

    def __truediv__(self, other: Any) -> "Curved":
        return self * (1.0 / other)

    def __rtruediv__(self, other: Any) -> "Curved":
        inverse = 1.0 / self.value
        square = NUMBERS.square(inverse)
        found = _chain(self, inverse, -square, 2.0 * square * inverse)
        return found if isinstance(other, float) and other == 1.0 else found * other

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


def curved(value: Any, like: Curved) -> Curved:
    """A number as a function that never changes; a `Curved` as it is."""
    if isinstance(value, Curved):
        return value
    count = len(like.slopes)
    return Curved(value, [None] * count, [[None] * (i + 1) for i in range(count)])


def _value(of: Any) -> Any:
    return of.value if isinstance(of, Curved) else of


def _sum(one: Maybe, other: Maybe) -> Maybe:
    if one is None or other is None:
        return one if other is None else other
    return one + other


def _times(one: Maybe, other: Maybe) -> Maybe:
    return None if one is None or other is None else one * other


def _mapped(of: Curved, value: Any, rule: Callable[[Number], Number]) -> Curved:
    def put(each: Maybe) -> Maybe:
        return None if each is None else rule(each)

    return Curved(value, list(map(put, of.slopes)), [list(map(put, row)) for row in of.curves])


def _joined(
    one: Curved, other: Curved, value: Any, rule: Callable[[Maybe, Maybe], Maybe]
) -> Curved:
    slopes = [rule(a, b) for a, b in zip(one.slopes, other.slopes, strict=True)]
    rows = zip(one.curves, other.curves, strict=True)
    curves = [[rule(a, b) for a, b in zip(*row, strict=True)] for row in rows]
    return Curved(value, slopes, curves)


def _chain(of: Curved, value: Any, slope: Number, curve: Number) -> Curved:
    """A function of a function, given its own first and second derivative there."""
    slopes = [_times(each, slope) for each in of.slopes]
    curves = [
        [
            _sum(_times(each, slope), _times(_times(of.slopes[i], of.slopes[j]), curve))
            for j, each in enumerate(row)
        ]
        for i, row in enumerate(of.curves)
    ]
    return Curved(value, slopes, curves)


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
        is_open = Answer(answer.may & ~answer.must, answer.may & ~answer.must)

        def rule(a: Maybe, b: Maybe) -> Maybe:
            if a is None and b is None and not is_open.may.any():
                return None
            picked = NUMBERS.where(answer, number(0.0) if a is None else a, 0.0 if b is None else b)
            return NUMBERS.where(is_open, UNKNOWN, picked)

        return _joined(one, other, NUMBERS.where(answer, one.value, other.value), rule)

    @staticmethod
    def float32(of: Any) -> Any:
        """Rounding is no part of the real function; how far it leads away is the error that
        `Number` keeps."""
        return of if isinstance(of, Curved) else NUMBERS.float32(of)


CURVED = CurvedFunctions()
