"""The one-node tree of Eq. 7: how it splits a state, and what its leaves hold."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from crisptree.lab.analysis.chain_setting import Setting


def goes_true(setting: Setting, phi: Float[np.ndarray, " P"]) -> Float[np.ndarray, "n P"]:
    """μ(s) = 1 / (1 + exp(-α(s - φ))), Eq. 4 with β = 1."""
    x = setting.alpha * (setting.states[:, None] - phi)
    tail = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, tail) / (1 + tail)


def doubt(setting: Setting, phi: Float[np.ndarray, " P"]) -> Float[np.ndarray, "n P"]:
    """min(μ, 1 - μ): the weight of the leaf on the other side, exact however small it is."""
    tail = np.exp(-setting.alpha * np.abs(setting.states[:, None] - phi))
    return tail / (1 + tail)


def slope(setting: Setting, phi: Float[np.ndarray, " P"]) -> Float[np.ndarray, "n P"]:
    """μ(1 - μ), so that ∂μ/∂φ = -α μ(1 - μ). (Eq. 12 prints α as `a`.)"""
    tail = np.exp(-setting.alpha * np.abs(setting.states[:, None] - phi))
    return tail / (1 + tail) ** 2


def moves_right(setting: Setting, phi: Float[np.ndarray, " P"]) -> Float[np.ndarray, "n P"]:
    """π(s, a1) = μ π̂(TRUE, a1) + (1 - μ) π̂(FALSE, a1), Eq. 14 with the leaves of §5.2."""
    mu, favoured = goes_true(setting, phi), setting.leaf_probability
    return mu * (1 - favoured) + (1 - mu) * favoured


class ValueLeaves(NamedTuple):
    """Q-leaves (Eq. 13): `good` for the action a leaf favours, `bad` for the other one."""

    good: float
    bad: float


def main_text_leaves(setting: Setting) -> ValueLeaves:
    """§5.2: r+/(1-γ), and r+/(1-γ) - r+ - r+γ."""
    good = setting.r_plus / (1 - setting.gamma)
    return ValueLeaves(good, good - setting.r_plus * (1 + setting.gamma))
