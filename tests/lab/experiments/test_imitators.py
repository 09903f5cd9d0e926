import numpy as np
from crisptree.lab.experiments.baselines import dagger_tree, state_action_tree
from made import ENV

from crisptree.crispen.select import Selection
from crisptree.envs.spaces import describe

TASK = describe(ENV)


def stump(states: np.ndarray) -> np.ndarray:
    """A teacher that a tree of two leaves can copy whole."""
    return (states[:, 3] > 0.1).astype(np.int64)


def agreement(tree) -> float:
    states = np.random.default_rng(0).normal(size=(1000, 4)).astype(np.float32)
    return float((tree.predict(states)[0] == stump(states)).mean())


def test_a_state_action_tree_copies_what_it_can_express():
    tree = state_action_tree(stump, TASK, 2, seed=0)
    assert tree.n_leaves == 2 and tree.feature[0] == 3
    assert agreement(tree) > 0.98


def test_leaves_are_actions_even_where_the_agent_never_used_the_others():
    always_right = lambda states: np.ones(len(states), np.int64)
    tree = state_action_tree(always_right, TASK, 8, seed=0)
    assert tree.n_leaves == 1 and tree.action.tolist() == [1]


def test_other_seeds_see_other_episodes():
    one, other = (state_action_tree(stump, TASK, 2, seed=seed) for seed in (0, 1))
    assert one.threshold[0] != other.threshold[0]
    again = state_action_tree(stump, TASK, 2, seed=0)
    assert one.to_dict() == again.to_dict()


def test_dagger_copies_too(tiny):
    tree = dagger_tree(stump, TASK, 2, 0, Selection(ENV, 0))
    assert agreement(tree) > 0.98
