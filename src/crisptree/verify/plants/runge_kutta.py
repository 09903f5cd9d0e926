"""One step of Runge and Kutta's method of order four, for any arithmetic."""

from collections.abc import Callable, Sequence
from typing import Any

Columns = Sequence[Any]


def runge_kutta(rates: Callable[[Columns], Columns], state: Columns, time: float) -> list[Any]:
    """The state after `time`, given the rates at which each number of a state changes."""

    def moved(by: Columns, share: float) -> list[Any]:
        return [each + share * rate for each, rate in zip(state, by, strict=True)]

    k1 = rates(state)
    k2 = rates(moved(k1, time / 2))
    k3 = rates(moved(k2, time / 2))
    k4 = rates(moved(k3, time))
    mixed = [a + 2 * b + 2 * c + d for a, b, c, d in zip(k1, k2, k3, k4, strict=True)]
    return moved(mixed, time / 6.0)
