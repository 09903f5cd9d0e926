"""Appendix D, computed: how likely the soft tree is to take a wrong action."""

import numpy as np
from jaxtyping import Float

from crisptree.lab.analysis.setting import Setting
from crisptree.lab.analysis.tree import moves_right, slope
from crisptree.lab.analysis.update import Update
from crisptree.lab.analysis.zeros import find_zeros, phi_grid


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
