"""One update rule over a range of φ: its curve, its zeros, and where repeated updates lead."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from crisptree.lab.analysis.chain_setting import Setting
from crisptree.lab.analysis.chain_tree import ValueLeaves
from crisptree.lab.analysis.critical_points import WIDTH, Zero, find_zeros
from crisptree.lab.analysis.exact_policy_gradient import evaluate, policy_gradient
from crisptree.lab.analysis.exact_q_learning import (
    HANDLINGS,
    TerminalHandling,
    crisp_values,
    q_learning,
    rollout,
)

MOVED = 0.05
"""A φ that ends nearer than this to where it began is stuck, if its tree is wrong."""

Method = Literal["policy-gradient", "q-learning"]


@dataclass(frozen=True, eq=False)
class Curve:
    """Δφ and the policy's value on a grid that reaches from below 0 to above n + 1."""

    setting: Setting
    method: Method
    start: int
    terminal: TerminalHandling | None
    """How Q-learning treats terminal states; policy gradient has no such choice."""
    phi: Float[np.ndarray, " P"]
    total: Float[np.ndarray, " P"]
    """Δφ."""
    value: Float[np.ndarray, " P"]
    """Value of the policy that gathers the data: soft and sampled, or, for Q-learning, greedy."""
    zeros: tuple[Zero, ...]

    @cached_property
    def shown(self) -> Bool[np.ndarray, " P"]:
        """0 ≤ φ < n + 1: the range over which optimality is integrated and normalised."""
        return (self.phi >= 0) & (self.phi < self.setting.n + 1)

    @cached_property
    def optimality(self) -> Float[np.ndarray, " S"]:
        """∫ Δφ' dφ' from 0 to φ, normalised to [0, 1] (§5.4), over the points shown."""
        return normalised(integral(self.phi[self.shown], self.total[self.shown]))

    @property
    def distance_to_value(self) -> float:
        """Mean distance of the optimality curve from the policy's value, both in [0, 1]."""
        gap = np.abs(self.optimality - normalised(self.value[self.shown]))
        return float(np.trapezoid(gap, self.phi[self.shown]) / (self.setting.n + 1))

    @property
    def optimality_at_zeros(self) -> list[float | None]:
        """Height of the optimality curve at each zero, None outside the range shown."""
        shown = self.phi[self.shown]
        places = np.array([zero.phi for zero in self.zeros])
        heights = np.interp(places, shown, self.optimality)
        inside = (places >= shown[0]) & (places <= shown[-1])
        return [float(h) if ok else None for h, ok in zip(heights, inside, strict=True)]


def integral(
    phi: Float[np.ndarray, " P"], total: Float[np.ndarray, " P"]
) -> Float[np.ndarray, " P"]:
    """Cumulative Simpson integral from the first point, piece by piece between jumps."""
    from scipy.integrate import cumulative_simpson

    walls = np.flatnonzero(np.diff(phi) < WIDTH) + 1
    pieces, reached = [], 0.0
    for x, y in zip(np.split(phi, walls), np.split(total, walls), strict=True):
        piece = cumulative_simpson(y, x=x, initial=0)
        pieces.append(reached + piece)
        reached += piece[-1]
    return np.concatenate(pieces)


def normalised(curve: Float[np.ndarray, " P"]) -> Float[np.ndarray, " P"]:
    """Shifted and scaled to [0, 1]; a flat curve becomes 0."""
    span = np.ptp(curve)
    return (curve - curve.min()) / (span if span > 0 else 1.0)


def policy_gradient_curves(
    setting: Setting, starts: tuple[int, ...], phi: Float[np.ndarray, " P"]
) -> tuple[Curve, ...]:
    """One curve for each start, from a single pass over the grid."""
    return tuple(
        Curve(
            setting,
            "policy-gradient",
            start,
            None,
            phi,
            found.update.total,
            found.value,
            find_zeros(policy_gradient(setting, start), phi, found.update.balance),
        )
        for start, found in zip(starts, evaluate(setting, phi, starts), strict=True)
    )


def q_learning_curves(
    setting: Setting, starts: tuple[int, ...], phi: Float[np.ndarray, " P"], leaves: ValueLeaves
) -> tuple[Curve, ...]:
    """One curve for each start and terminal handling."""
    return tuple(
        q_learning_curve(setting, start, phi, leaves, handling)
        for start in starts
        for handling in HANDLINGS
    )


def q_learning_curve(
    setting: Setting,
    start: int,
    phi: Float[np.ndarray, " P"],
    leaves: ValueLeaves,
    handling: TerminalHandling,
) -> Curve:
    rule = q_learning(setting, start, leaves, handling)
    update = rule(phi)
    value = crisp_values(setting, start)[rollout(setting, phi)]
    zeros = find_zeros(rule, phi, update.balance)
    return Curve(setting, "q-learning", start, handling, phi, update.total, value, zeros)


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


def initial_phis(setting: Setting) -> Float[np.ndarray, " K"]:
    """Starting points from 0 to n + 1: at least 41, at least two for each state."""
    return np.linspace(0, setting.n + 1, max(41, 2 * setting.n + 1))


def iterate_updates(
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
