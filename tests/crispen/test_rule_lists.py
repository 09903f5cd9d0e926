import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_task import plain_task
from tree_strategies import ACTIONS, FEATURES

from crisptree.crisp import CrispTree
from crisptree.crispen.rule_lists import fit_list

TASK = plain_task(FEATURES, ACTIONS)


def fitted(states: np.ndarray, actions: np.ndarray, n_leaves: int) -> CrispTree:
    return fit_list(states, actions, None, n_leaves, TASK, 0)


def grid(n: int = 4000, values: int = 9, seed: int = 0) -> np.ndarray:
    """Whole numbers, each often: every threshold between two of them can be found."""
    return np.random.default_rng(seed).integers(0, values, size=(n, 3)).astype(np.float32)


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1), st.integers(2, 20), st.integers(1, 600), st.sampled_from([1, 2, 3])
)
def test_whatever_it_is_given_it_is_a_list_within_the_budget(seed, n_leaves, n, n_actions):
    random = np.random.default_rng(seed)
    states = random.normal(0, 10 ** random.uniform(-3, 3, 3), size=(n, 3)).astype(np.float32)
    states[:, 0] = np.round(states[:, 0])
    actions = random.integers(n_actions, size=n)
    tree = fitted(states, actions, n_leaves)
    assert tree.is_rule_list
    assert tree.n_leaves <= n_leaves
    assert set(tree.action[tree.action >= 0]) <= set(actions)
    assert (tree.feature_names, tree.action_names) == (FEATURES, ACTIONS)
    # never worse than the commonest action alone
    common = (actions == np.bincount(actions).argmax()).mean()
    assert (tree.predict(states)[0] == actions).mean() >= common


@pytest.mark.parametrize("sign", [1, -1])
def test_one_threshold_is_found_exactly(sign):
    """In either direction, between the neighbours 3 and 4."""
    states = grid()
    actions = np.where(sign * states[:, 1] > sign * 3.5, 2, 0)
    tree = fitted(states, actions, 2)
    assert tree.n_leaves == 2
    assert tree.predict(states)[0].tolist() == actions.tolist()
    (feature, threshold), *_ = [(f, t) for f, t, *_ in tree.nodes if f >= 0]
    assert feature == 1
    assert 3 <= threshold < 4


RULES = [
    [(0, 6.5, True, 2)],
    [(0, 6.5, True, 2), (1, 1.5, False, 1)],
    [(2, 2.5, False, 0), (0, 5.5, True, 1), (1, 4.5, True, 2)],
    [(1, 7.5, True, 0), (1, 0.5, False, 2), (2, 7.5, True, 0), (0, 2.5, False, 1)],
]


def followed(rules, states: np.ndarray, otherwise: int) -> np.ndarray:
    actions = np.full(len(states), otherwise)
    for feature, threshold, above, action in reversed(rules):
        covered = (states[:, feature] > threshold) == above
        actions[covered] = action
    return actions


@pytest.mark.parametrize("rules", RULES)
def test_a_list_is_learned_back(rules):
    """States that a list of so many rules labelled are told apart by one, without a mistake."""
    states = grid()
    actions = followed(rules, states, otherwise=(rules[-1][3] + 1) % 3)
    tree = fitted(states, actions, len(rules) + 3)
    assert tree.predict(states)[0].tolist() == actions.tolist()


def test_a_smaller_budget_gives_a_shorter_list():
    states = grid()
    actions = followed(RULES[3], states, 2)
    right = []
    for n_leaves in (2, 3, 4, 8):
        tree = fitted(states, actions, n_leaves)
        assert tree.n_leaves <= n_leaves
        right.append((tree.predict(states)[0] == actions).mean())
    assert right == sorted(right)
    assert right[0] < right[-1] == 1


def test_a_half_space_that_holds_everything_is_no_rule():
    """Few states of one action among many of another: what pays most would be to take all."""
    values = np.repeat(np.arange(10, dtype=np.float32), 50)
    states = np.stack([values, np.zeros(500), np.zeros(500)], 1).astype(np.float32)
    actions = np.where(values == 9, 1, 0)
    assert fitted(states, actions, 2).predict(states)[0].tolist() == actions.tolist()


def test_constant_features_and_one_action():
    states = np.zeros((100, 3), np.float32)
    assert fitted(states, np.ones(100, int), 5).action.tolist() == [1]
    # two actions that nothing tells apart: the commonest
    assert fitted(states, np.arange(100) % 3 // 2, 5).action.tolist() == [0]


def test_a_teacher_may_answer_with_truth_values():
    states = grid()
    actions = states[:, 1] > 3.5
    tree = fitted(states, actions, 3)
    assert tree.predict(states)[0].tolist() == actions.astype(int).tolist()


def test_the_seed_changes_nothing():
    states, actions = grid(500), np.random.default_rng(0).integers(3, size=500)
    one, other = (fit_list(states, actions, None, 6, TASK, seed) for seed in (0, 1))
    assert one.to_dict() == other.to_dict()
