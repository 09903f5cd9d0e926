"""The chain MDP of §5 and the one-node tree that acts in it, as one validated record.

States are 1 … n; 1 and n are terminal. a1 moves right with probability p and left with 1 - p, a2
the other way round. A state pays for every time step spent in it: r+ in i* and i*+1, r- in a
terminal state (once: the episode ends there), nothing elsewhere. An episode has `horizon` time
steps, the one at the start included. The tree has one decision node, μ(s) = σ(α(s - φ)), whose
TRUE leaf (s > φ) favours a2.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from crisptree.base.errors import CrisptreeError


@dataclass(frozen=True)
class Setting:
    """One chain, one tree. The defaults are the paper's (§5 and the caption of Appendix D)."""

    n: int = 4
    """States of the chain."""
    istar: int = 2
    """i*: it and its right neighbour pay r+."""
    p: float = 1.0
    """Chance that a move goes the way of its action."""
    gamma: float = 0.95
    """Discount factor."""
    alpha: float = 10.0
    """Steepness of the decision node."""
    r_plus: float = 1.0
    """Reward of i* and i*+1."""
    r_minus: float = -1.0
    """Reward of the terminal states."""
    horizon: int = 4
    """Time steps of an episode."""
    leaf_probability: float = 0.99
    """Probability a policy leaf gives to the action it favours."""

    def __post_init__(self) -> None:
        for fault in self._faults():
            raise CrisptreeError(fault)

    def _faults(self):
        if self.n < 4:
            yield f"n is {self.n}; the chain needs at least 4 states, two of them terminal"
        elif not 1 < self.istar < self.n - 1:
            yield f"istar is {self.istar}; it must lie between 2 and n - 2 = {self.n - 2}"
        if not 0 <= self.p <= 1:
            yield f"p is {self.p}; a probability lies between 0 and 1"
        if not 0 < self.gamma < 1:
            yield f"gamma is {self.gamma}; it must lie between 0 and 1, both excluded"
        if not 0 < self.alpha <= 500:
            yield (
                f"alpha is {self.alpha}; it must lie between 0 and 500, above which the updates "
                "between two states are smaller than any float"
            )
        if not 0 < self.r_plus < math.inf:
            yield f"r-plus is {self.r_plus}; it must be positive and finite"
        if not -math.inf < self.r_minus < self.r_plus:
            yield f"r-minus is {self.r_minus}; it must be finite and below r-plus = {self.r_plus}"
        if self.horizon < 1:
            yield f"horizon is {self.horizon}; an episode has at least 1 time step"
        if not 0.5 < self.leaf_probability < 1:
            yield (
                f"leaf-probability is {self.leaf_probability}; "
                "it must lie between 0.5 and 1, both excluded"
            )

    @property
    def states(self) -> Float[np.ndarray, " n"]:
        return np.arange(1.0, self.n + 1)

    @property
    def rewards(self) -> Float[np.ndarray, " n"]:
        """R(s)."""
        rewards = np.zeros(self.n)
        rewards[self.istar - 1 : self.istar + 1] = self.r_plus
        rewards[[0, -1]] = self.r_minus
        return rewards

    @property
    def optimal_phi(self) -> float:
        """φ* = i* + ½."""
        return self.istar + 0.5

    def check_start(self, start: int) -> None:
        if not 1 < start < self.n:
            raise CrisptreeError(
                f"start is {start}; an episode starts in a state that is not terminal, "
                f"2 to {self.n - 1}"
            )


PAPER = Setting()
