"""The paper's Appendices A to D, computed.

A: the optimal policy by value iteration, against the theorem "a1 up to i*, a2 beyond" (for p = 1).
Transitions are those of §5.1: the intended way with probability p, else the other way. The
appendix's own equation for P(s' | s, a) is no distribution, see `printed_transition`.
B: what the crisp tree does and earns for φ = 0 … n. C: the leaves' values with a horizon.
D: how likely the soft tree is to take a wrong action.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float

from crisptree.lab.analysis.chain_setting import Setting
from crisptree.lab.analysis.chain_tree import ValueLeaves, moves_right, slope
from crisptree.lab.analysis.critical_points import find_zeros, phi_grid
from crisptree.lab.analysis.exact_q_learning import crisp_values
from crisptree.lab.analysis.update_rule import Update

Verdict = Literal["holds", "indifferent", "reversed", "differs"]


@dataclass(frozen=True)
class TheoremCheck:
    """The theorem against value iteration at one p, over the states that are not terminal."""

    p: float
    verdict: Verdict
    exceptions: tuple[int, ...]
    """States where the theorem's action is not strictly the better one."""
    margin: float
    """Least Q(theorem's action) - Q(other action)."""


def backup(setting: Setting, value: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n 2"]:
    """Q(s, a) = R(s) + γ Σ_s' P(s' | s, a) V(s'), and r- in terminal states (Appendix A)."""
    ahead, behind = value[2:], value[:-2]
    q = np.tile(setting.rewards[:, None], 2)
    q[1:-1, 0] += setting.gamma * (setting.p * ahead + (1 - setting.p) * behind)
    q[1:-1, 1] += setting.gamma * (setting.p * behind + (1 - setting.p) * ahead)
    return q


def finite_horizon_q(setting: Setting) -> Float[np.ndarray, "n 2"]:
    """Q with `horizon` time steps to go."""
    value = np.zeros(setting.n)
    for _ in range(setting.horizon - 1):
        value = backup(setting, value).max(1)
    return backup(setting, value)


def optimal_q(setting: Setting) -> Float[np.ndarray, "n 2"]:
    """Q* without a horizon: value iteration finds the policy, one linear solve its exact value.

    If the policy is not greedy for its own value, value iteration goes on from there.
    """
    value = np.zeros(setting.n)
    policy = np.full(setting.n, -1)
    while True:
        for _ in range(setting.n):
            value = backup(setting, value).max(1)
        greedy = _greedy(backup(setting, value), policy)
        value = _policy_value(setting, greedy)
        q = backup(setting, value)
        policy = _greedy(q, greedy)
        if np.array_equal(policy, greedy):
            return q


def _greedy(q: Float[np.ndarray, "n 2"], current: np.ndarray) -> np.ndarray:
    # Ties keep the current action, or rounding could make two equal policies alternate for ever.
    gap = q[:, 0] - q[:, 1]
    clear = np.abs(gap) > 1e-12 * (1 + np.abs(q).max())
    return np.where(clear | (current < 0), (gap < 0).astype(int), current)


def _policy_value(setting: Setting, policy: np.ndarray) -> Float[np.ndarray, " n"]:
    right = np.where(policy == 0, setting.p, 1 - setting.p)
    transition = np.zeros((setting.n, setting.n))
    inner = np.arange(1, setting.n - 1)
    transition[inner, inner + 1] = right[inner]
    transition[inner, inner - 1] = 1 - right[inner]
    return np.linalg.solve(np.eye(setting.n) - setting.gamma * transition, setting.rewards)


def check_theorem(setting: Setting, p: float) -> TheoremCheck:
    """Does the theorem's policy beat every other action strictly at this p?"""
    q = optimal_q(replace(setting, p=p))[1:-1]
    states = setting.states[1:-1].astype(int)
    margin = np.where(states <= setting.istar, 1, -1) * (q[:, 0] - q[:, 1])
    tolerance = 1e-9 * (1 + np.abs(q).max())
    better, worse = margin > tolerance, margin < -tolerance
    verdict: Verdict = "differs"
    if better.all():
        verdict = "holds"
    elif worse.all():
        verdict = "reversed"
    elif not (better | worse).any():
        verdict = "indifferent"
    return TheoremCheck(p, verdict, tuple(states[~better].tolist()), float(margin.min()))


def appendix_c_leaves(setting: Setting) -> ValueLeaves:
    """Appendix C: the finite-horizon Q of both actions in i*.

    On the paper's chain these are r+(1 + γ + γ² + γ³) and r+ + γ r-.
    """
    good, bad = finite_horizon_q(setting)[setting.istar - 1]
    return ValueLeaves(float(good), float(bad))


def printed_transition(setting: Setting) -> Float[np.ndarray, "n 2 n"]:
    """P(s' | s, a) as Appendix A prints it: 0 into a terminal state, p the intended way,
    (1 - p)/(n - 1) otherwise. Its rows do not sum to one, and no episode could ever end.
    """
    n, p = setting.n, setting.p
    table = np.full((n, 2, n), (1 - p) / (n - 1))
    for s in range(n):
        for action, successor in enumerate((s + 1, s - 1)):
            if 0 <= successor < n:
                table[s, action, successor] = p
    table[:, :, [0, -1]] = 0
    return table


@dataclass(frozen=True)
class Step:
    """(s_t, R(s_t), a_t)."""

    state: int
    reward: float
    action: int
    """1 or 2, as the paper numbers them."""


@dataclass(frozen=True)
class Trace:
    phi: int
    steps: tuple[Step, ...]
    """With p < 1: the path on which every move goes its likelier way."""
    value: float
    """V from the start; with p < 1 the expectation over all paths."""


def traces(setting: Setting, start: int) -> tuple[Trace, ...]:
    values = crisp_values(setting, start)
    return tuple(
        Trace(phi, trace(setting, start, float(phi)), float(values[phi]))
        for phi in range(setting.n + 1)
    )


def trace(setting: Setting, start: int, phi: float) -> tuple[Step, ...]:
    """The rollout of the tree `s > φ ? a2 : a1`, its step in a terminal state included."""
    setting.check_start(start)
    steps, state = [], start
    for _ in range(setting.horizon):
        action = 2 if state > phi else 1
        steps.append(Step(state, float(setting.rewards[state - 1]), action))
        if state in (1, setting.n):
            break
        onward = 1 if action == 1 else -1
        state += onward if setting.p >= 0.5 else -onward
    return tuple(steps)


def wrong_action(setting: Setting, phi: Float[np.ndarray, " P"]) -> Float[np.ndarray, " P"]:
    """½ (π(s_i*, a2) + π(s_i*+1, a1)): a step away from the pair of rewarded states."""
    right = moves_right(setting, phi)
    return (1 - right[setting.istar - 1] + right[setting.istar]) / 2


def least_wrong(setting: Setting, low: float, high: float) -> tuple[float, float]:
    """The φ with the least such probability in a range, and that probability.

    It is the zero of the derivative, ½ (2ℓ - 1) α (μ(1 - μ)(s_i*+1) - μ(1 - μ)(s_i*)) with ℓ the
    leaves' probability, at which it turns from falling to rising.
    """

    def falling(phi: Float[np.ndarray, " P"]) -> Update:
        scale = (2 * setting.leaf_probability - 1) * setting.alpha / 2
        left, right = scale * slope(setting, phi)[setting.istar - 1 : setting.istar + 1]
        return Update(left - right, left + right)

    grid = phi_grid(setting, low, high)
    found = [zero.phi for zero in find_zeros(falling, grid, falling(grid).balance) if zero.attracts]
    places = np.array([low, *found, high])
    chance = wrong_action(setting, places)
    best = int(np.argmin(chance))
    return float(places[best]), float(chance[best])
