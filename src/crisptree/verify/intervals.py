"""Intervals of float64 that are certain to hold every result, thousands at a time.

A bound is computed as any float is, which is off by at most half a unit in the last place, and then
moved outwards by a share of its size that is larger than that, and than what the checker's own
arithmetic adds. Sums that are exact stay as they are: what stands still does not creep. So an
interval holds both the real numbers and what a program computes in float64 with the same
operations. `INTERVALS` is the module a plant's equations get in the place of NumPy.
"""

from typing import Any

import numpy as np

from crisptree.verify.sound import Sound, Values, truth

SHARE = 2.0**-50
"""By which bounds move outwards; an operation is off by 2⁻⁵³ at most."""
FUNCTION_SHARE = 2.0**-48
"""The same for quotients, sines and the like: those of two libraries may differ a little."""
TINY = 1e-305


class Interval(Sound):
    """Lower and upper bounds, `(N,)` each, or `()` for a constant."""

    __slots__ = ("high", "low")

    def __init__(self, low: Any, high: Any) -> None:
        self.low: Values = np.asarray(low, np.float64)
        self.high: Values = np.asarray(high, np.float64)

    def __repr__(self) -> str:
        return f"Interval({self.low}, {self.high})"

    def ends(self) -> tuple[Values, Values]:
        return self.low, self.high

    def square(self) -> "Interval":
        return square(self)

    def __add__(self, other: Any) -> "Interval":
        if _is_other_kind(other):
            return NotImplemented
        other = interval(other)
        return Interval(_sum(self.low, other.low, -1), _sum(self.high, other.high, 1))

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __mul__(self, other: Any) -> "Interval":
        if _is_other_kind(other):
            return NotImplemented
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
        if _is_other_kind(other):
            return NotImplemented
        other = interval(other)
        has_zero = (other.low <= 0) & (other.high >= 0)
        divisors = np.where(has_zero, 1.0, other.low), np.where(has_zero, 1.0, other.high)
        quotients = [a / b for a in (self.low, self.high) for b in divisors]
        low = np.where(has_zero, -np.inf, np.minimum.reduce(quotients))
        high = np.where(has_zero, np.inf, np.maximum.reduce(quotients))
        return outwards(low, high, FUNCTION_SHARE)

    def __rtruediv__(self, other: Any) -> "Interval":
        return interval(other) / self


def _is_other_kind(value: Any) -> bool:
    """Whether it is a form: forms know intervals, intervals do not know forms."""
    return isinstance(value, Sound) and not isinstance(value, Interval)


def interval(value: Any) -> Interval:
    """A number as an interval without width; an interval as it is."""
    return value if isinstance(value, Interval) else Interval(value, value)


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
