"""The exact expected policy-gradient update of φ (Eq. 6), for every start at once.

The expectation over all trajectories is one backward pass. With V_t the value of the time steps
from t on and G_t the expected sum of their updates,

    V_t(s) = R(s) + γ Σ_a π(s, a) Σ_s' P(s' | s, a) V_{t+1}(s')
    G_t(s) = Σ_a ∂π(s, a)/∂φ · Q_t(s, a) + Σ_s' P_π(s' | s) G_{t+1}(s')

since E[A_t ∂ log π] = Σ_a ∂π · Q_t. The update from s0 is G_0(s0): T·n work for each φ, where
enumeration would take 2^T.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from crisptree.lab.analysis.chain_setting import Setting
from crisptree.lab.analysis.chain_tree import moves_right, slope
from crisptree.lab.analysis.update_rule import Update, UpdateRule, pieces

Discounting = Literal["to-go", "from-start", "as-printed"]
"""How A_t counts the rewards from t on. `to-go`: γ^(t'-t), the usual way. `from-start`: γ^t', which
makes the update the gradient of the value itself. `as-printed`: γ^(T-t'), as under Eq. 6."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Value and update of the policies π_φ, for episodes from one start."""

    value: Float[np.ndarray, " P"]
    update: Update


def evaluate(
    setting: Setting,
    phi: Float[np.ndarray, " P"],
    starts: tuple[int, ...],
    discounting: Discounting = "to-go",
) -> tuple[Evaluation, ...]:
    """Value and expected update of φ from each start.

    `value` is discounted like the advantages, so it is V^π for all but `as-printed`.
    """
    for start in starts:
        setting.check_start(start)
    rows = np.array(starts) - 1
    found = [_backward(setting, piece, discounting)[:, rows] for piece in pieces(phi)]
    value, total, terms = np.concatenate(found, axis=2)
    return tuple(Evaluation(*row) for row in zip(value, map(Update, total, terms), strict=True))


def policy_gradient(setting: Setting, start: int, discounting: Discounting = "to-go") -> UpdateRule:
    """φ ↦ Δφ for episodes that start in `start`."""
    return lambda phi: evaluate(setting, phi, (start,), discounting)[0].update


def _backward(
    setting: Setting, phi: Float[np.ndarray, " P"], discounting: Discounting
) -> Float[np.ndarray, "3 n P"]:
    p, T = setting.p, setting.horizon
    inner = slice(1, -1)
    right = (1 - p) + (2 * p - 1) * moves_right(setting, phi)[inner]
    # ∂P(right)/∂φ: a higher φ sends more weight to the FALSE leaf, which favours a1.
    sharpness = (2 * p - 1) * (2 * setting.leaf_probability - 1) * setting.alpha
    turn = sharpness * slope(setting, phi)[inner]
    turn_size = np.abs(turn)
    rewards = setting.rewards[inner, None]

    # Value, update and absolute terms share their transitions, so they travel as one array.
    now = np.zeros((3, setting.n, len(phi)))
    expected = np.empty((3, setting.n - 2, len(phi)))
    for t in reversed(range(T)):
        reward, future, step = _discounts(discounting, setting.gamma, t, T)
        np.subtract(now[:, 2:], now[:, :-2], out=expected)
        part = turn * expected[0]
        part *= future * step
        size = np.abs(now[0])
        size = size[2:] + size[:-2]
        size *= turn_size
        size *= future * step
        expected *= right
        expected += now[:, :-2]
        expected[0] *= future
        expected[0] += reward * rewards
        expected[1] += part
        expected[2] += size
        now[:, inner] = expected
        now[0, [0, -1]] = reward * setting.r_minus
    return now


def _discounts(
    discounting: Discounting, gamma: float, t: int, T: int
) -> tuple[float, float, float]:
    """What the reward at t, the future after it, and the update at t are multiplied with."""
    match discounting:
        case "to-go":
            return 1.0, gamma, 1.0
        case "from-start":
            return 1.0, gamma, gamma**t
        case "as-printed":
            return gamma ** (T - 1 - t), 1.0, 1.0
