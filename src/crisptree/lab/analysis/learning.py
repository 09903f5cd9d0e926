"""Where does φ end? The updates followed from many starting points."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from crisptree.lab.analysis.setting import Setting

MOVED = 0.05
"""A φ that ends nearer than this to where it began is said to be stuck, if its tree is wrong."""


@dataclass(frozen=True, eq=False)
class Learning:
    """φ before and after many updates."""

    first: Float[np.ndarray, " K"]
    last: Float[np.ndarray, " K"]

    def optimal_before(self, setting: Setting) -> float:
        """Share of the starting points whose crisp tree is optimal."""
        return float(is_optimal(setting, self.first).mean())

    def optimal_after(self, setting: Setting) -> float:
        """Share that ends with an optimal crisp tree."""
        return float(is_optimal(setting, self.last).mean())

    def stuck(self, setting: Setting) -> float:
        """Share that began with a wrong tree and hardly moved."""
        unmoved = np.abs(self.last - self.first) < MOVED
        return float((unmoved & ~is_optimal(setting, self.last)).mean())


def is_optimal(setting: Setting, phi: Float[np.ndarray, " K"]) -> Bool[np.ndarray, " K"]:
    """i* ≤ φ < i*+1: the crisp tree goes right up to i* and left beyond."""
    return (phi >= setting.istar) & (phi < setting.istar + 1)


def first_phis(setting: Setting) -> Float[np.ndarray, " K"]:
    """Starting points from 0 to n + 1: at least 41, at least two for each state."""
    return np.linspace(0, setting.n + 1, max(41, 2 * setting.n + 1))


def follow(
    phi: Float[np.ndarray, " P"],
    total: Float[np.ndarray, " P"],
    first: Float[np.ndarray, " K"],
    rate: float,
    steps: int,
) -> Learning:
    """Iterate φ ← φ + rate · Δφ, with Δφ given on a grid and linear between its points.

    The grid of `phi_grid` is fine enough to change Δφ by less than one part in a hundred, and has
    both sides of every integer, so that jumps stay jumps. Beyond its ends Δφ stays what it was.
    """
    last = first.copy()
    for _ in range(steps):
        last += rate * np.interp(last, phi, total)
    return Learning(first, last)
