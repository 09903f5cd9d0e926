"""Policies with real actions as policies that choose among levels, and back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.envs.levels import Levels
from crisptree.envs.policy import Policy


@runtime_checkable
class KnowsProbabilities(Policy, Protocol):
    """A policy that knows how likely it makes each choice."""

    def probabilities(self, observations: NDArray) -> Sequence[NDArray[np.float64]]:
        """The probability of each choice in each row, part by part."""
        ...


@dataclass(frozen=True)
class OfLevels:
    """A policy with real actions, made of one that chooses among levels."""

    policy: Policy
    levels: Levels
    is_mean: bool = False
    """Whether it acts by the mean of the levels, as likely as they are, and not by the likeliest:
    what a line imitates better."""

    def act(self, observations: NDArray) -> NDArray[np.float64]:
        if not (self.is_mean and isinstance(self.policy, KnowsProbabilities)):
            return self.levels.values(np.asarray(self.policy.act(observations)))
        parts = zip(self.policy.probabilities(observations), self.levels.table, strict=True)
        return np.stack([likely @ values for likely, values in parts], 1)


def holds_levels(tree: CrispTree, levels: Levels) -> bool:
    """Whether all leaves are constant and hold values of levels."""
    held = tree.action[tree.feature < 0]
    return not any(tree.gains) and np.allclose(held, levels.values(levels.nearest(held)))


def with_choices(tree: CrispTree, levels: Levels) -> CrispTree:
    """The tree whose leaves choose the levels that come nearest to what they hold."""
    at_leaf = (tree.feature < 0)[:, None]
    action = np.where(at_leaf, levels.nearest(tree.action), -1)
    return replace(tree, action=action, actions=levels.choices, gains=())


def with_values(tree: CrispTree, levels: Levels) -> CrispTree:
    """The tree whose leaves hold the values of the levels that they choose."""
    at_leaf = (tree.feature < 0)[:, None]
    action = np.where(at_leaf, levels.values(np.maximum(tree.action, 0)), 0.0)
    return replace(tree, action=action, actions=levels.actions)
