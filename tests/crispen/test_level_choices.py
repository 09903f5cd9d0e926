"""Trees with real actions as trees that choose among levels, and back."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from crisptree.crisp import CrispTree
from crisptree.crisp.signature import Actions, Feature
from crisptree.crispen.fit import fit_cart
from crisptree.crispen.level_choices import OfLevels, holds_levels, with_choices, with_values
from crisptree.envs.levels import Levels
from crisptree.envs.task import task_of

REAL = Actions.box(("push", "turn"), (-1.0, 0.0), (1.0, 10.0))
LEVELS = Levels(REAL, 3)


def tree_with(*values) -> CrispTree:
    """x > 0 decides between two leaves."""
    return CrispTree(
        feature=np.array([0, -1, -1]),
        threshold=np.zeros(3),
        if_true=np.array([1, -1, -1]),
        if_false=np.array([2, -1, -1]),
        action=np.array([[0.0, 0.0], *values]),
        features=(Feature("x"),),
        actions=REAL,
    )


def test_there_and_back():
    tree = tree_with([-1.0, 5.0], [1.0, 0.0])
    assert holds_levels(tree, LEVELS)
    chosen = with_choices(tree, LEVELS)
    assert chosen.actions.kind == "multi_discrete"
    assert chosen.act(np.array([[1.0], [-1.0]])).tolist() == [[0, 1], [2, 0]]
    assert with_values(chosen, LEVELS) == tree


def test_other_values_are_noticed():
    tree = tree_with([-1.0, 5.0], [0.9, 0.0])
    assert not holds_levels(tree, LEVELS)
    assert with_values(with_choices(tree, LEVELS), LEVELS) == tree_with([-1.0, 5.0], [1.0, 0.0])


def test_lines_are_no_levels():
    from crisptree.crisp.structure import Gain

    tree = tree_with([-1.0, 5.0], [1.0, 0.0])
    lines = replace(tree, gains=((), (Gain(0, 0, 0.5),), ()))
    assert not holds_levels(lines, LEVELS)


class Likely:
    """Chooses the middle or the last level, whatever is seen."""

    def act(self, observations):
        return np.full((len(observations), 2), 2)

    def probabilities(self, observations):
        return [np.tile([0.0, 0.5, 0.5], (len(observations), 1))] * 2


def test_a_policy_of_levels_acts_by_the_likeliest_or_by_the_mean():
    rows = np.zeros((2, 1), np.float32)
    assert OfLevels(Likely(), LEVELS).act(rows).tolist() == [[1.0, 10.0]] * 2
    assert OfLevels(Likely(), LEVELS, is_mean=True).act(rows).tolist() == [[0.5, 7.5]] * 2
    tree = with_choices(tree_with([-1.0, 5.0], [1.0, 0.0]), LEVELS)  # knows no probabilities
    assert OfLevels(tree, LEVELS, is_mean=True).act(rows).tolist() == [[1.0, 0.0]] * 2


class OnePart(gym.Env):
    """One choice of three, in a vector of length one."""

    observation_space = spaces.Box(-1, 1, (2,))
    action_space = spaces.MultiDiscrete([3])


@pytest.mark.parametrize("weights", [None, np.ones(60)])
def test_a_tree_of_a_single_part_can_be_fitted(weights):
    task = task_of(OnePart)
    states = np.random.default_rng(0).uniform(-1, 1, (60, 2)).astype(np.float32)
    labels = (states[:, :1] > 0).astype(np.int64) * 2
    tree = fit_cart(states, labels, weights, 4, task, 0)
    assert tree.act(states).shape == (60, 1)
    assert (tree.act(states) == labels).all()
