import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from tree_strategies import LISTS, NESTED, tree_of

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree


def measured(nested) -> tuple[int, int]:
    """Leaves and depth, by the definition."""
    if not isinstance(nested, tuple):
        return 1, 0
    (leaves1, depth1), (leaves2, depth2) = measured(nested[2]), measured(nested[3])
    return leaves1 + leaves2, 1 + max(depth1, depth2)


@given(NESTED)
def test_counts(nested):
    tree = tree_of(nested)
    leaves, depth = measured(nested)
    assert (tree.n_leaves, tree.depth, tree.n_nodes) == (leaves, depth, 2 * leaves - 1)
    assert (tree.n_features, tree.n_actions) == (3, 3)


def test_a_lone_leaf():
    tree = CrispTree.leaf(1, ("x",), ("left", "right"), env_id="Some-v0", training={"seed": 3})
    assert (tree.n_nodes, tree.n_leaves, tree.depth, tree.is_rule_list) == (1, 1, 0, True)
    assert tree.predict([7.0]) == (1, None)
    assert tree.decision_path([7.0]) == (0,)
    assert (tree.env_id, tree.training) == ("Some-v0", {"seed": 3})


def test_repr_is_one_line():
    tree = tree_of((0, 0.5, 2, (1, 0.0, 1, 0)))
    assert repr(tree) == "CrispTree(3 leaves, depth 2, 3 features, 3 actions, env_id=None)"


@given(LISTS)
def test_a_rule_list_is_one(nested):
    tree = tree_of(nested)
    assert tree.is_rule_list


def test_what_is_no_rule_list():
    assert tree_of((0, 1.0, 0, (1, 2.0, 1, 0))).is_rule_list
    assert tree_of((0, 1.0, (1, 2.0, 1, 0), 0)).is_rule_list  # a rule may ask x ≤ 1
    assert not tree_of((0, 1.0, (1, 2.0, 1, 0), (1, 3.0, 1, 0))).is_rule_list


@given(NESTED)
def test_copies_are_alike_and_read_only(nested):
    tree = tree_of(nested)
    for other in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree), copy.copy(tree)):
        assert other.to_dict() == tree.to_dict()
        assert not other.threshold.flags.writeable


def test_predict_answers_as_stable_baselines_asks():
    tree = tree_of((0, 0.5, 2, 1))
    state, start = (np.zeros(1),), np.ones((2,), dtype=bool)
    batch = np.array([[1.0, 0, 0], [0.5, 0, 0]], dtype=np.float32)
    actions, new_state = tree.predict(batch, state=state, episode_start=start, deterministic=True)
    assert actions.dtype == np.int64
    assert actions.tolist() == [2, 1]
    assert new_state is state
    action, new_state = tree.predict(batch[0], deterministic=False)
    assert isinstance(action, np.int64)
    assert (action, new_state) == (2, None)


def test_decision_path_takes_one_observation():
    tree = tree_of((0, 0.5, 2, (1, 0.0, 1, 0)))
    assert tree.decision_path([0, 1, 0]) == (0, 2, 3)
    with pytest.raises(CrisptreeError, match=r"one observation of shape \(3,\); this one has"):
        tree.decision_path(np.zeros((2, 3)))


@given(NESTED)
def test_to_dict_and_back(nested):
    tree = tree_of(nested)
    assert CrispTree.from_dict(tree.to_dict()).to_dict() == tree.to_dict()
