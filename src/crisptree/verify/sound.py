"""What intervals and forms share: operators that follow from others, and comparisons.

A comparison of numbers that are only known within bounds says where it certainly holds and where it
may.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

Values = Any
"""An array `(N,)`, or one number for all rows."""


class Truth(NamedTuple):
    """What a comparison says: where it certainly holds and where it may."""

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


def truth(value: Any) -> Truth:
    """A plain truth value as one that is certain."""
    return value if isinstance(value, Truth) else Truth(np.asarray(value), np.asarray(value))


class Sound(ABC):
    """Numbers `(N,)` that are known within bounds."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's arrays leave the operators to this class
    __hash__ = None  # type: ignore[assignment]

    @abstractmethod
    def ends(self) -> tuple[Values, Values]:
        """The lower and the upper bounds."""

    @abstractmethod
    def square(self) -> Any: ...

    @abstractmethod
    def __add__(self, other: Any) -> Any: ...

    @abstractmethod
    def __mul__(self, other: Any) -> Any: ...

    @abstractmethod
    def __neg__(self) -> Any: ...

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __pos__(self) -> Any:
        return self

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __pow__(self, exponent: int) -> Any:
        """A power with a small whole exponent, as repeated products."""
        if exponent == 2:
            return self.square()
        if exponent < 1 or exponent != int(exponent):
            raise TypeError("sound numbers have powers 1, 2, 3, …")
        found = self
        for _ in range(int(exponent) - 1):
            found = found * self
        return found

    def __lt__(self, other: Any) -> Truth:
        (low, high), (least, most) = self.ends(), _ends(other)
        return Truth(high < least, low < most)

    def __le__(self, other: Any) -> Truth:
        (low, high), (least, most) = self.ends(), _ends(other)
        return Truth(high <= least, low <= most)

    def __gt__(self, other: Any) -> Truth:
        (low, high), (least, most) = self.ends(), _ends(other)
        return Truth(low > most, high > least)

    def __ge__(self, other: Any) -> Truth:
        (low, high), (least, most) = self.ends(), _ends(other)
        return Truth(low >= most, high >= least)

    def __eq__(self, other: Any) -> Truth:  # type: ignore[override]
        (low, high), (least, most) = self.ends(), _ends(other)
        same = (low == high) & (least == most) & (low == least)
        return Truth(same, (low <= most) & (high >= least))

    def __ne__(self, other: Any) -> Truth:  # type: ignore[override]
        return ~(self == other)


def _ends(value: Any) -> tuple[Values, Values]:
    return value.ends() if isinstance(value, Sound) else (np.asarray(value), np.asarray(value))
