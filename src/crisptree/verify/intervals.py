"""Intervals of float64 that are certain to hold every result, thousands at a time.

A bound is computed as any float is, which is off by at most half a unit in the last place, and then
moved outwards to the next float. So an interval holds both the real numbers and what a program
computes in float64 with the same operations.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SIN_COS_ULPS = 4.0
"""How far sines and cosines of two libraries may lie from the true ones, in units in the last
place; good ones keep within one."""


class Interval(NamedTuple):
    """Lower and upper bounds, `(N,)` each, or `()` for a constant."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def plus(self, other: "Interval") -> "Interval":
        return _outwards(self.low + other.low, self.high + other.high)

    def minus(self, other: "Interval") -> "Interval":
        return _outwards(self.low - other.high, self.high - other.low)

    def times(self, other: "Interval") -> "Interval":
        products = [a * b for a in self for b in other]
        return _outwards(np.minimum.reduce(products), np.maximum.reduce(products))

    def over(self, positive: "Interval") -> "Interval":
        """The quotient; what divides must be above zero."""
        quotients = [a / b for a in self for b in positive]
        return _outwards(np.minimum.reduce(quotients), np.maximum.reduce(quotients))

    def squared(self) -> "Interval":
        ends = np.square(self.low), np.square(self.high)
        low = np.where((self.low <= 0) & (self.high >= 0), 0.0, np.minimum(*ends))
        return Interval(
            np.maximum(np.nextafter(low, -np.inf), 0.0), np.nextafter(np.maximum(*ends), np.inf)
        )

    def sine(self) -> "Interval":
        """For angles within ±π/2, where the sine rises."""
        return _outwards(np.sin(self.low), np.sin(self.high), SIN_COS_ULPS)

    def cosine(self) -> "Interval":
        """For angles within ±π/2, where the cosine rises to 0 and falls from there."""
        ends = np.cos(self.low), np.cos(self.high)
        high = np.where((self.low <= 0) & (self.high >= 0), 1.0, np.maximum(*ends))
        return _outwards(np.minimum(*ends), high, SIN_COS_ULPS)


def constant(value: float) -> Interval:
    return Interval(np.array(value), np.array(value))


def _outwards(low: NDArray, high: NDArray, ulps: float = 1.0) -> Interval:
    return Interval(
        np.nextafter(low - (ulps - 1) * np.spacing(np.abs(low)), -np.inf),
        np.nextafter(high + (ulps - 1) * np.spacing(np.abs(high)), np.inf),
    )
