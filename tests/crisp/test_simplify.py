from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from tree_strategies import (
    BOX,
    EVERY_KIND,
    LISTS,
    NESTED,
    one_of_every_cell,
    tree_of,
    tree_with,
)

from crisptree.crisp import CrispTree


@given(NESTED | LISTS)
def test_the_same_policy_never_larger_and_done_at_once(nested):
    tree = tree_of(nested)
    simple = tree.simplify()
    cells = one_of_every_cell(tree)  # every threshold of the simple tree is among the tree's
    assert simple.predict(cells)[0].tolist() == tree.predict(cells)[0].tolist()
    assert simple.n_nodes <= tree.n_nodes
    assert simple.simplify().to_dict() == simple.to_dict()
    assert tree.is_rule_list <= simple.is_rule_list


@given(EVERY_KIND)
def test_every_kind_of_leaf(written):
    tree = tree_with(*written)
    simple = tree.simplify()
    cells = one_of_every_cell(tree)
    assert np.array_equal(simple.predict(cells)[0], tree.predict(cells)[0])
    assert simple.n_nodes <= tree.n_nodes and simple.simplify() == simple
    assert (simple.actions, simple.features) == (tree.actions, tree.features)


def test_leaves_with_the_same_formula_are_one():
    leaf = [(0.5, {"a": 1.0}), 0.0]
    assert tree_with((0, 1.0, leaf, leaf), BOX).simplify() == tree_with(leaf, BOX)
    other = [(0.5, {"a": 1.5}), 0.0]
    assert tree_with((0, 1.0, leaf, other), BOX).simplify().n_leaves == 2


@given(NESTED)
def test_every_leaf_that_stays_is_reached(nested):
    tree = tree_of(nested)
    simple = tree.simplify()
    reached = set(simple.apply(one_of_every_cell(simple)).tolist())
    assert reached == set((simple.feature == -1).nonzero()[0].tolist())


@given(LISTS)
def test_a_list_over_one_feature_comes_down_to_its_changes(nested):
    """The smallest such list is known: one rule a change of action along the feature."""
    tree = tree_of(nested)
    alone = replace(tree, feature=np.minimum(tree.feature, 0))
    cells = np.array(sorted({row[0] for row in one_of_every_cell(alone)}))
    batch = np.zeros((len(cells), 3))
    batch[:, 0] = cells
    actions = alone.predict(batch)[0]
    assert alone.simplify().n_leaves == 1 + (np.diff(actions) != 0).sum()


@pytest.mark.parametrize(
    ("nested", "simple"),
    [
        # both sides the same action, also once their own sides have gone
        ((0, 1.0, 2, 2), 2),
        ((0, 1.0, (1, 0.0, 2, 2), 2), 2),
        # both sides the same subtree
        ((0, 1.0, (1, 0.0, 0, 1), (1, 0.0, 0, 1)), (1, 0.0, 0, 1)),
        # settled by an earlier comparison, at equal thresholds too
        ((0, 1.0, (0, 0.5, 0, 1), 2), (0, 1.0, 0, 2)),
        ((0, 1.0, (0, 1.0, 0, 1), 2), (0, 1.0, 0, 2)),
        ((0, 1.0, 2, (0, 1.0, 0, 1)), (0, 1.0, 2, 1)),
        ((0, 1.0, 2, (0, 1.5, 0, 1)), (0, 1.0, 2, 1)),
        # not settled
        ((0, 1.0, (0, 1.5, 0, 1), 2), (0, 1.0, (0, 1.5, 0, 1), 2)),
        ((0, 1.0, 2, (0, 0.5, 0, 1)), (0, 1.0, 2, (0, 0.5, 0, 1))),
        ((0, 1.0, (1, 0.5, 0, 1), 2), (0, 1.0, (1, 0.5, 0, 1), 2)),
        # settled two levels up
        ((0, 1.0, (1, 0.0, (0, 0.0, 0, 1), 1), 2), (0, 1.0, (1, 0.0, 0, 1), 2)),
        # covered by the rule after it
        ((0, 7.0, 0, (0, 5.0, 0, 1)), (0, 5.0, 0, 1)),
        ((0, 5.0, (0, 7.0, 0, 1), 1), (0, 7.0, 0, 1)),
        ((0, 7.0, 0, (1, 2.0, 2, (0, 5.0, 0, 1))), (0, 7.0, 0, (1, 2.0, 2, (0, 5.0, 0, 1)))),
        ((0, 3.0, (1, 0.0, 0, 1), (1, 0.0, 0, (0, 1.0, 1, 2))), (1, 0.0, 0, (0, 1.0, 1, 2))),
    ],
)
def test_by_hand(nested, simple):
    assert tree_of(nested).simplify().to_dict() == tree_of(simple).to_dict()


def test_two_nodes_that_lead_to_the_same_action_either_way_go():
    """As in the paper's full cart-pole policy and its pruned figure."""
    nested = (2, 0.0, (1, 0.0, 2, 2), (0, 0.5, (1, -1.0, 0, 0), 2))
    assert tree_of(nested).simplify().n_leaves == 3


def test_names_and_metadata_stay():
    tree = replace(tree_of((0, 1.0, 2, 2)), env_id="CartPole-v1", training={"seed": 1})
    simple = tree.simplify()
    assert isinstance(simple, CrispTree)
    assert (simple.env_id, simple.training) == ("CartPole-v1", {"seed": 1})
    assert (simple.feature_names, simple.action_names) == (tree.feature_names, tree.action_names)


def test_a_very_deep_list():
    nested = 0
    for at in range(2_000):
        nested = (at % 3, float(at), at % 2, nested)
    simple = tree_of(nested).simplify()
    batch = np.random.default_rng(0).uniform(-10, 2_010, size=(1_000, 3))
    assert simple.predict(batch)[0].tolist() == tree_of(nested).predict(batch)[0].tolist()


def flagged(nested):
    """A tree on one flag `a` and one number `b`."""
    tree = CrispTree.from_nested(nested, ("a", "b"), ("left", "right", "wait"))
    flag, number = tree.features
    return replace(tree, features=(replace(flag, kind="flag", low=0.0, high=1.0), number))


@pytest.mark.parametrize(
    ("nested", "left"),
    [
        (("a", -0.1, "left", "right"), "left"),  # always above
        (("a", 1.0, "left", "right"), "right"),  # never above
        (("a", 0.3, ("a", 0.6, "left", "wait"), "right"), ("a", 0.3, "left", "right")),
        (("a", 0.6, "left", ("a", 0.3, "wait", "right")), ("a", 0.6, "left", "right")),
        (("a", 0.3, "left", "right"), ("a", 0.3, "left", "right")),
        (("b", -0.1, "left", "right"), ("b", -0.1, "left", "right")),  # a number may be below
    ],
)
def test_a_flag_is_0_or_1(nested, left):
    simple = flagged(nested).simplify()
    assert simple == flagged(left)
    rows = np.array([[a, b] for a in (0.0, 1.0) for b in (-1.0, 1.0)])
    assert simple.act(rows).tolist() == flagged(nested).act(rows).tolist()
