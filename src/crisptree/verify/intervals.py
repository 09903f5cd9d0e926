"""Intervals of float64 that are certain to hold every result, thousands at a time.

A bound is computed as any float is, which is off by at most half a unit in the last place, and then
moved outwards by a share of its size that is larger than that, and than what the checker's own
arithmetic adds. Sums that are exact stay as they are: what stands still does not creep. So an
interval holds both the real numbers and what a program computes in float64 with the same
operations. `INTERVALS` is the module a plant's equations get in the place of NumPy.
"""

from typing import Any, NamedTuple

import numpy as np

SHARE = 2.0**-50
"""By which bounds move outwards; an operation is off by 2⁻⁵³ at most."""
FUNCTION_SHARE = 2.0**-48
"""The same for quotients, sines and the like: those of two libraries may differ a little."""
TINY = 1e-305

Values = Any
"""An array `(N,)`, or one number for all rows."""


class Truth(NamedTuple):
    """What a comparison of intervals says: where it certainly holds and where it may."""

    certain: Values
    possible: Values

    def __and__(self, other: "Truth | bool") -> "Truth":
        other = truth(other)
        return Truth(self.certain & other.certain, self.possible & other.possible)

    def __or__(self, other: "Truth | bool") -> "Truth":
        other = truth(other)
        return Truth(self.certain | other.certain, self.possible | other.possible)

    def __invert__(self) -> "Truth":
        return Truth(~self.possible, ~self.certain)

    __rand__, __ror__ = __and__, __or__


class Interval:
    """Lower and upper bounds, `(N,)` each, or `()` for a constant."""

    __slots__ = ("high", "low")
    __array_ufunc__ = None  # NumPy's arrays leave the operators to this class

    def __init__(self, low: Any, high: Any) -> None:
        self.low: Values = np.asarray(low, np.float64)
        self.high: Values = np.asarray(high, np.float64)

    def __repr__(self) -> str:
        return f"Interval({self.low}, {self.high})"

    def __add__(self, other: Any) -> "Interval":
        if hasattr(other, "bounds"):
            return NotImplemented  # a form: it knows intervals, they do not know forms
        other = interval(other)
        return Interval(_sum(self.low, other.low, -1), _sum(self.high, other.high, 1))

    def __sub__(self, other: Any) -> "Interval":
        if hasattr(other, "bounds"):
            return NotImplemented  # a form: it knows intervals, they do not know forms
        other = interval(other)
        return Interval(_sum(self.low, -other.high, -1), _sum(self.high, -other.low, 1))

    def __rsub__(self, other: Any) -> "Interval":
        return interval(other) - self

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __pos__(self) -> "Interval":
        return self

    def __mul__(self, other: Any) -> "Interval":
        if hasattr(other, "bounds"):
            return NotImplemented  # a form: it knows intervals, they do not know forms
        if isinstance(other, int | float):
            if other == 0:
                return Interval(np.zeros_like(self.low), np.zeros_like(self.high))
            ends = self.low * other, self.high * other
            return outwards(*(ends if other >= 0 else ends[::-1]))
        other = interval(other)
        products = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return outwards(np.minimum.reduce(products), np.maximum.reduce(products))

    def __truediv__(self, other: Any) -> "Interval":
        """The quotient; unbounded where the divisor may be zero."""
        if hasattr(other, "bounds"):
            return NotImplemented  # a form: it knows intervals, they do not know forms
        other = interval(other)
        has_zero = (other.low <= 0) & (other.high >= 0)
        divisors = np.where(has_zero, 1.0, other.low), np.where(has_zero, 1.0, other.high)
        quotients = [a / b for a in (self.low, self.high) for b in divisors]
        low = np.where(has_zero, -np.inf, np.minimum.reduce(quotients))
        high = np.where(has_zero, np.inf, np.maximum.reduce(quotients))
        return outwards(low, high, FUNCTION_SHARE)

    def __rtruediv__(self, other: Any) -> "Interval":
        return interval(other) / self

    def __pow__(self, exponent: int) -> "Interval":
        """A power with a small whole exponent, as repeated products; the square is never below
        zero."""
        if exponent == 2:
            return square(self)
        if exponent < 1 or exponent != int(exponent):
            raise TypeError("intervals have powers 1, 2, 3, …")
        found = self
        for _ in range(int(exponent) - 1):
            found = found * self
        return found

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Any) -> Truth:
        other = interval(other)
        return Truth(self.high < other.low, self.low < other.high)

    def __le__(self, other: Any) -> Truth:
        other = interval(other)
        return Truth(self.high <= other.low, self.low <= other.high)

    def __gt__(self, other: Any) -> Truth:
        return interval(other) < self

    def __ge__(self, other: Any) -> Truth:
        return interval(other) <= self

    def __eq__(self, other: Any) -> Truth:  # type: ignore[override]
        other = interval(other)
        same = (self.low == self.high) & (other.low == other.high) & (self.low == other.low)
        return Truth(same, (self.low <= other.high) & (self.high >= other.low))

    def __ne__(self, other: Any) -> Truth:  # type: ignore[override]
        return ~(self == other)

    __hash__ = None  # type: ignore[assignment]


def interval(value: Any) -> Interval:
    """A number as an interval without width; an interval as it is."""
    return value if isinstance(value, Interval) else Interval(value, value)


def truth(value: Any) -> Truth:
    """A plain truth value as one that is certain."""
    return value if isinstance(value, Truth) else Truth(np.asarray(value), np.asarray(value))


def outwards(low: Values, high: Values, share: float = SHARE) -> Interval:
    """The interval with its bounds moved outwards by a share of their sizes."""
    return Interval(low - (np.abs(low) * share + TINY), high + (np.abs(high) * share + TINY))


def _sum(one: Values, other: Values, way: int) -> Values:
    """A sum, moved downwards (-1) or upwards (1) unless it is exact."""
    found = one + other
    with np.errstate(invalid="ignore"):
        part = found - one
        lost = (one - (found - part)) + (other - part)
    return found + way * np.where(lost == 0, 0.0, np.abs(found) * SHARE + TINY)


def square(of: Any) -> Interval:
    of = interval(of)
    ends = np.square(of.low), np.square(of.high)
    low = np.where((of.low <= 0) & (of.high >= 0), 0.0, np.minimum(*ends))
    found = outwards(low, np.maximum(*ends))
    return Interval(np.maximum(found.low, 0.0), found.high)


def turning(function: Any, of: Any, crests: float, troughs: float) -> Interval:
    """A sine or cosine, which is 1 at `crests + 2πn` and -1 at `troughs + 2πn`.

    Whether a crest lies inside is decided with a margin that exceeds the rounding of 2πn.
    """
    of = interval(of)
    ends = function(of.low), function(of.high)
    found = outwards(np.minimum(*ends), np.maximum(*ends), FUNCTION_SHARE)
    margin = 1e-12 * (1.0 + np.maximum(np.abs(of.low), np.abs(of.high)))

    def holds(point: float) -> Values:
        turn = 2 * np.pi
        nearest = np.ceil((of.low - margin - point) / turn - 1e-12) * turn + point
        return nearest <= of.high + margin

    low = np.where(holds(troughs), -1.0, np.maximum(found.low, -1.0))
    high = np.where(holds(crests), 1.0, np.minimum(found.high, 1.0))
    return Interval(low, high)


def rising(function: Any, of: Any) -> Interval:
    """A function that never falls, at both ends."""
    of = interval(of)
    return outwards(function(of.low), function(of.high), FUNCTION_SHARE)


class Intervals:
    """NumPy's functions for intervals, under NumPy's names."""

    pi, inf = np.pi, np.inf

    @staticmethod
    def sin(of: Any) -> Interval:
        return turning(np.sin, of, np.pi / 2, -np.pi / 2)

    @staticmethod
    def cos(of: Any) -> Interval:
        return turning(np.cos, of, 0.0, np.pi)

    square = staticmethod(square)

    @staticmethod
    def exp(of: Any) -> Interval:
        found = rising(np.exp, of)
        return Interval(np.maximum(found.low, 0.0), found.high)

    @staticmethod
    def tanh(of: Any) -> Interval:
        found = rising(np.tanh, of)
        return Interval(np.maximum(found.low, -1.0), np.minimum(found.high, 1.0))

    @staticmethod
    def sqrt(of: Any) -> Interval:
        of = interval(of)
        found = rising(np.sqrt, Interval(np.maximum(of.low, 0.0), np.maximum(of.high, 0.0)))
        return Interval(np.maximum(found.low, 0.0), found.high)

    @staticmethod
    def abs(of: Any) -> Interval:
        of = interval(of)
        low = np.maximum(np.maximum(of.low, -of.high), 0.0)
        return Interval(low, np.maximum(np.abs(of.low), np.abs(of.high)))

    absolute = abs

    @staticmethod
    def minimum(one: Any, other: Any) -> Interval:
        one, other = interval(one), interval(other)
        return Interval(np.minimum(one.low, other.low), np.minimum(one.high, other.high))

    @staticmethod
    def maximum(one: Any, other: Any) -> Interval:
        one, other = interval(one), interval(other)
        return Interval(np.maximum(one.low, other.low), np.maximum(one.high, other.high))

    @classmethod
    def clip(cls, of: Any, low: Any, high: Any) -> Interval:
        return cls.minimum(cls.maximum(of, low), high)

    @staticmethod
    def where(condition: Any, one: Any, other: Any) -> Interval:
        """One or the other, or both where the condition is open."""
        condition, one, other = truth(condition), interval(one), interval(other)
        is_open = condition.possible & ~condition.certain
        low = np.where(condition.certain, one.low, other.low)
        high = np.where(condition.certain, one.high, other.high)
        return Interval(
            np.where(is_open, np.minimum(one.low, other.low), low),
            np.where(is_open, np.maximum(one.high, other.high), high),
        )

    @staticmethod
    def float32(of: Any) -> Interval:
        """The value rounded to float32, which keeps the order."""
        of = interval(of)
        return Interval(of.low.astype(np.float32), of.high.astype(np.float32))


INTERVALS = Intervals()
