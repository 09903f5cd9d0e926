"""The Q-learning update of φ (Eq. 5), summed along the greedy rollout.

At φ the greedy tree goes right in the states up to φ and left beyond, so the rollout, and with it
the expected number of visits N(s) to each state, changes only where φ crosses a state:

    Δφ = Σ_s N(s) · (R(s) + γ E[target(s')] - Q(s, a)) · ∂Q(s, a)/∂φ,   a greedy in s.

With p = 1 this is the paper's single rollout; with p < 1 it is the expectation over transitions.
What `target` is at a terminal state, and whether a terminal state is itself updated, the paper
does not say. Its five critical points depend on it, so the handling is a named choice.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from crisptree.base.errors import CrisptreeError
from crisptree.lab.analysis.chain_setting import Setting
from crisptree.lab.analysis.chain_tree import ValueLeaves, doubt, slope
from crisptree.lab.analysis.update_rule import Update, UpdateRule, in_pieces, without_rounding


@dataclass(frozen=True)
class TerminalHandling:
    """How Q-learning treats the terminal states."""

    name: str
    bootstraps: bool
    """The target at a terminal successor is max Q of the tree there, not its reward r-."""
    updates: bool
    """The terminal state gets an update of its own, with target r-."""
    meaning: str


PAPER_HANDLING = TerminalHandling(
    "paper", True, False, "Eq. 5 to the letter: the tree's own max Q at a terminal successor"
)
TERMINAL_UPDATE = TerminalHandling(
    "terminal-update", False, True, "Target r-, and the further step that Appendix B's traces list"
)
BOOTSTRAP_AND_UPDATE = TerminalHandling(
    "bootstrap-and-update", True, True, "Max Q at a terminal successor, and the further step"
)
STANDARD = TerminalHandling(
    "standard", False, False, "Target r- at a terminal successor, no update there"
)
HANDLINGS = (PAPER_HANDLING, TERMINAL_UPDATE, BOOTSTRAP_AND_UPDATE, STANDARD)


def q_learning(
    setting: Setting, start: int, leaves: ValueLeaves, handling: TerminalHandling
) -> UpdateRule:
    """φ ↦ Δφ for greedy rollouts from `start`."""
    if not leaves.good > leaves.bad:
        raise CrisptreeError(
            f"the leaves hold {leaves.good} for the favoured action and {leaves.bad} for the "
            "other; the first must be greater"
        )
    counts = visits(setting, start)

    def piece(phi: Float[np.ndarray, " P"]) -> Update:
        step = step_updates(setting, phi, leaves, handling)
        times = counts[rollout(setting, phi)].T
        return Update((times * step.total).sum(0), (times * step.terms).sum(0))

    return lambda phi: in_pieces(piece, phi)


def rollout(setting: Setting, phi: Float[np.ndarray, " P"]) -> Int[np.ndarray, " P"]:
    """⌊φ⌋ within 0 … n, the last state that goes right: all that the greedy rollout depends on."""
    return np.clip(np.floor(phi), 0, setting.n).astype(int)


def visits(setting: Setting, start: int, discount: float = 1.0) -> Float[np.ndarray, "rollouts n"]:
    """Row k: Σ_t discount^t P(s_t = s) within the horizon when the states up to k go right.

    A terminal state counts once: it ends the episode.
    """
    setting.check_start(start)
    goes_right = setting.states <= np.arange(setting.n + 1)[:, None]
    right = np.where(goes_right, setting.p, 1 - setting.p)[:, 1:-1]
    now = np.zeros((setting.n + 1, setting.n))
    now[:, start - 1] = 1
    total = now.copy()
    for _ in range(setting.horizon - 1):
        moving = discount * now[:, 1:-1]
        now = np.zeros_like(now)
        now[:, 2:] += moving * right
        now[:, :-2] += moving * (1 - right)
        total += now
    return total


def crisp_values(setting: Setting, start: int) -> Float[np.ndarray, " rollouts"]:
    """V of the crisp tree from `start`, for ⌊φ⌋ = 0 … n: the value of the greedy rollout."""
    return visits(setting, start, setting.gamma) @ setting.rewards


def step_updates(
    setting: Setting,
    phi: Float[np.ndarray, " P"],
    leaves: ValueLeaves,
    handling: TerminalHandling,
) -> Update:
    """Eq. 5 for one visit to each state: the temporal difference times ∂Q(s, a)/∂φ.

    The greedy Q is good - (good - bad)·doubt, so the difference is written as what the leaves
    alone leave over, plus (good - bad) times a difference of doubts. Both keep their digits.
    """
    gap = leaves.good - leaves.bad
    unsure = doubt(setting, phi)
    goes_right = setting.states[:, None] <= phi
    right = np.where(goes_right, setting.p, 1 - setting.p)[1:-1]

    target, target_doubt = np.full((setting.n, 1), leaves.good), unsure.copy()
    if not handling.bootstraps:
        target[[0, -1]] = setting.r_minus
        target_doubt[[0, -1]] = 0

    left_over = np.zeros_like(unsure)
    next_doubt = np.zeros_like(unsure)
    reward = setting.rewards[1:-1, None]
    next_target = setting.gamma * (target[:-2] + right * (target[2:] - target[:-2]))
    left_over[1:-1] = without_rounding(
        reward + next_target - leaves.good,
        np.abs(reward) + np.abs(next_target) + abs(leaves.good),
    )
    next_doubt[1:-1] = setting.gamma * (
        target_doubt[:-2] + right * (target_doubt[2:] - target_doubt[:-2])
    )
    left_over[[0, -1]] = setting.r_minus - leaves.good

    push = setting.alpha * gap * slope(setting, phi)
    if not handling.updates:
        push[[0, -1]] = 0
    difference = left_over + gap * (unsure - next_doubt)
    terms = np.abs(left_over) + gap * (unsure + next_doubt)
    return Update(np.where(goes_right, push, -push) * difference, push * terms)
