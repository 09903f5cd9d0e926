import numpy as np
import pytest
from made_records import ENV

from crisptree.crispen.select import Selection
from crisptree.envs.policy import FunctionPolicy
from crisptree.envs.task import task_of
from crisptree.lab.experiments.imitators import dagger_tree, state_action_tree
from crisptree.pipeline.config import DistillConfig

TASK = task_of(ENV)


def stump(states: np.ndarray) -> np.ndarray:
    return (states[:, 3] > 0.1).astype(np.int64)


TEACHER = FunctionPolicy(stump)
"""A teacher that a tree of two leaves can copy whole."""


def agreement(tree) -> float:
    states = np.random.default_rng(0).normal(size=(1000, 4)).astype(np.float32)
    return float((tree.act(states) == stump(states)).mean())


def test_a_state_action_tree_copies_what_it_can_express():
    tree = state_action_tree(TEACHER, TASK, 2, seed=0)
    assert tree.n_leaves == 2 and tree.feature[0] == 3
    assert agreement(tree) > 0.98


def test_leaves_are_actions_even_where_the_agent_never_used_the_others():
    always_right = FunctionPolicy(lambda states: np.ones(len(states), np.int64))
    tree = state_action_tree(always_right, TASK, 8, seed=0)
    assert tree.n_leaves == 1 and tree.action.tolist() == [1]


def test_other_seeds_see_other_episodes():
    one, other = (state_action_tree(TEACHER, TASK, 2, seed=seed) for seed in (0, 1))
    assert one.threshold[0] != other.threshold[0]
    assert one == state_action_tree(TEACHER, TASK, 2, seed=0)


def test_dagger_copies_too():
    config = DistillConfig(rounds=2, episodes=16, finalists=2)
    tree = dagger_tree(TEACHER, TASK, 2, 0, Selection(TASK, 0), config)
    assert agreement(tree) > 0.98


def test_real_actions_are_imitated_by_regression():
    task = task_of("Pendulum-v1")
    teacher = FunctionPolicy(lambda states: np.where(states[:, 2:] > 0, -1.5, 1.0))
    tree = state_action_tree(teacher, task, 2, seed=0)
    assert tree.n_leaves == 2 and tree.feature[0] == 2
    assert sorted(tree.action[tree.feature < 0, 0]) == pytest.approx([-1.5, 1.0])
