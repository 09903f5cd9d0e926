import numpy as np
import pytest
from cartpole_trees import ANGLE, GOOD, LEFT, POSITION, RIGHT, SPIN, VELOCITY, cartpole
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_strategies import LEAVES, LISTS, inner, one_of_every_cell, tree_of

from crisptree.crisp import CrispTree
from crisptree.crispen import prune
from crisptree.crispen.prune import (
    cut_away,
    cuts,
    prune_by_disagreement,
    prune_by_return,
    prune_flawless,
    prune_free,
    visited_states,
)
from crisptree.crispen.select import Selection

SPLITS = inner(st.recursive(LEAVES, inner, max_leaves=12))
WIDE = cartpole(
    (
        SPIN,
        0.5,
        (
            POSITION,
            2.0,
            (VELOCITY, 3.0, LEFT, RIGHT),
            (ANGLE, 0.1, RIGHT, (SPIN, 2.5, LEFT, RIGHT)),
        ),
        (
            SPIN,
            -0.5,
            (ANGLE, 0.0, (VELOCITY, 2.5, LEFT, RIGHT), (POSITION, 1.5, RIGHT, LEFT)),
            LEFT,
        ),
    )
)
"""GOOD with questions added that hardly matter."""


def nested_of(tree: CrispTree, node: int = 0, instead: dict[int, int] | None = None):
    """The tree as nested tuples; a node in `instead` is replaced by another node of the tree."""
    node = (instead or {}).get(node, node)
    feature, threshold, if_true, if_false = tree.nodes[node]
    if feature < 0:
        return int(tree.action[node])
    return (
        feature,
        threshold,
        nested_of(tree, if_true, instead),
        nested_of(tree, if_false, instead),
    )


def states_for(seed: int, n: int = 60) -> np.ndarray:
    """Rounded, so that thresholds are met exactly now and then."""
    raw = np.random.default_rng(seed).normal(0, 1.5, size=(n, 3))
    return np.round(raw * 2) / 2


@given(SPLITS, st.integers(0, 1000))
def test_a_cut_tree_is_the_tree_with_the_node_replaced(nested, which):
    """Everywhere, and with no needless nodes."""
    tree = tree_of(nested)
    possible = [
        (node, child)
        for node, (feature, _, *children) in enumerate(tree.nodes)
        for child in children
        if feature >= 0
    ]
    node, child = possible[which % len(possible)]
    cut = cut_away(tree, node, child)
    replaced = tree_of(nested_of(tree, instead={node: child}))
    cells = one_of_every_cell(tree)
    assert cut.predict(cells)[0].tolist() == replaced.predict(cells)[0].tolist()
    assert cut.to_dict() == replaced.simplify().to_dict()


@settings(max_examples=50)
@given(SPLITS, st.integers(0, 1000))
def test_cuts_count_what_they_change(nested, seed):
    tree, states = tree_of(nested), states_for(seed)
    before = tree.predict(states)[0]
    found = cuts(tree, states)
    assert {(cut.node, cut.child) for cut in found} == {
        (node, child)
        for node, (feature, _, *children) in enumerate(tree.nodes)
        for child in children
        if feature >= 0
    }
    assert len(found) == 2 * (tree.n_leaves - 1)
    for cut in found:
        replaced = tree_of(nested_of(tree, instead={cut.node: cut.child}))
        assert cut.changed == (replaced.predict(states)[0] != before).sum()
        assert cut.leaves == tree.n_leaves - replaced.n_leaves
    order = [(cut.changed, -cut.leaves) for cut in found]
    assert order == sorted(order)


def test_what_is_cut_keeps_its_names():
    tree = CrispTree.from_nested(
        (0, 1.0, (0, 2.0, 0, 1), 1), ("a",), ("l", "r"), env_id="E-v0", training={"k": 1}
    )
    cut = cut_away(tree, 0, 1)
    assert (cut.feature_names, cut.action_names) == (("a",), ("l", "r"))
    assert (cut.env_id, dict(cut.training)) == ("E-v0", {"k": 1})
    assert cut.threshold.tolist() == [2.0, 0.0, 0.0]


@settings(max_examples=50)
@given(SPLITS, st.integers(0, 1000), st.integers(2, 12))
def test_pruning_by_disagreement_reaches_the_size(nested, seed, size):
    tree, states = tree_of(nested), states_for(seed)
    smaller = prune_by_disagreement(tree, size, states)
    assert smaller.n_leaves <= max(size, 2)
    if tree.n_leaves <= size:
        assert smaller is tree


@settings(max_examples=50)
@given(LISTS, st.integers(0, 1000), st.integers(2, 6))
def test_a_list_stays_a_list(nested, seed, size):
    assert prune_by_disagreement(tree_of(nested), size, states_for(seed)).is_rule_list


def test_disagreement_removes_first_what_nobody_sees():
    """A branch that no state reaches goes before anything that decides something."""
    tree = tree_of((0, 0.0, (1, 9.0, (2, 0.0, 0, 1), 2), (1, 0.0, 0, 1)))
    states = states_for(3, 500)
    assert states[:, 1].max() < 9
    smaller = prune_by_disagreement(tree, 3, states)
    assert smaller.n_leaves == 3
    assert (smaller.predict(states)[0] == tree.predict(states)[0]).all()


def test_no_more_is_cut_than_asked_where_that_is_possible():
    """Half of this tree sees no state; a leaf at a time is enough to reach five."""
    tree = tree_of((0, 99.0, (1, 0.0, (2, 0.0, 0, 1), (2, 1.0, 1, 2)), (1, 0.0, 0, 1)))
    assert tree.n_leaves == 6
    assert prune_by_disagreement(tree, 5, states_for(0)).n_leaves == 5


class Constant(Selection):
    """Likes every tree as much as the others, or the ones with many leaves."""

    def __init__(self, a_leaf: float = 0.0) -> None:
        super().__init__("CartPole-v1", 0)
        self.a_leaf = a_leaf

    def returns(self, trees, episodes):
        return [np.full(episodes, self.a_leaf * tree.n_leaves) for tree in trees]


@settings(max_examples=50)
@given(SPLITS, st.integers(0, 1000), st.integers(2, 12))
def test_pruning_by_return_reaches_the_size(nested, seed, size):
    tree = tree_of(nested)
    smaller = prune_by_return(tree, size, states_for(seed), Constant(), (4,))
    assert smaller.n_leaves <= size
    if tree.n_leaves <= size:
        assert smaller is tree


def test_pruning_by_return_reaches_the_size_past_cuts_that_are_too_large(monkeypatch):
    """A long list whose end no state reaches: the first dozens of cuts would take all of it."""
    monkeypatch.setattr(prune, "SHORTLIST", 4)
    nested: object = 1
    for i in range(30):
        nested = (0, float(100 + i), i % 2 * 2, nested)
    tree = tree_of(nested)
    assert tree.n_leaves == 31
    smaller = prune_by_return(tree, 28, states_for(0), Constant(a_leaf=1.0), (4,))
    assert 26 <= smaller.n_leaves <= 28


def test_pruning_by_return_keeps_what_earns():
    """Down to four leaves, CartPole is still balanced to the end."""
    states = visited_states(lambda rows: np.asarray(WIDE.predict(rows)[0]), "CartPole-v1", 0)
    selection = Selection("CartPole-v1", 1)
    smaller = prune_by_return(WIDE, 4, states, selection, (32, 64))
    assert smaller.n_leaves <= 4
    assert np.mean(selection.returns([smaller], 200)[0]) > 495


def test_free_cuts_keep_cartpole_at_500():
    states = visited_states(lambda rows: np.asarray(WIDE.predict(rows)[0]), "CartPole-v1", 0)
    selection = Selection("CartPole-v1", 1)
    assert (selection.returns([WIDE], 200)[0] == 500).all()
    smaller = prune_free(WIDE, states, selection, tolerance=0.0)
    assert smaller.n_leaves <= GOOD.n_leaves
    assert (selection.returns([smaller], 500)[0] > 499).mean() > 0.99


def test_a_flawless_tree_is_cut_to_a_flawless_one():
    states = visited_states(lambda rows: np.asarray(WIDE.predict(rows)[0]), "CartPole-v1", 0)
    selection = Selection("CartPole-v1", 1)
    smaller = prune_flawless(WIDE, states, selection)
    assert smaller.n_leaves <= GOOD.n_leaves
    assert (selection.returns([smaller], 500)[0] == 500).all()


def test_a_tree_whose_every_cut_loses_stays():
    states = visited_states(lambda rows: np.asarray(GOOD.predict(rows)[0]), "CartPole-v1", 0)
    smallest = prune_flawless(GOOD, states, Selection("CartPole-v1", 1))
    assert prune_flawless(smallest, states, Selection("CartPole-v1", 2)) is smallest


class Falling(Selection):
    """The tree that came in earns 10; every leaf that is lost costs one."""

    def __init__(self, n_leaves: int) -> None:
        super().__init__("CartPole-v1", 0)
        self.n_leaves = n_leaves

    def returns(self, trees, episodes):
        return [np.full(episodes, 10.0 + tree.n_leaves - self.n_leaves) for tree in trees]


@pytest.mark.parametrize(("tolerance", "lost"), [(0.0, 0), (0.5, 0), (1.0, 1), (2.5, 2), (99.0, 5)])
def test_the_tolerance_is_for_all_cuts_together(tolerance, lost):
    """Not for each: else a tree could fall a little, again and again."""
    tree = cartpole((0, 0.0, (1, 1.0, (2, 1.0, 0, 1), (2, 2.0, 0, 1)), (1, 2.0, (3, 1.0, 0, 1), 0)))
    assert tree.n_leaves == 7
    states = np.random.default_rng(0).normal(size=(100, 4))
    pruned = prune_free(tree, states, Falling(7), tolerance=tolerance)
    assert pruned.n_leaves == 7 - lost


def test_visited_states_are_the_policys_own():
    """A pole that is held upright is seen upright; the same seed sees the same states."""

    def hold(rows: np.ndarray) -> np.ndarray:
        return np.asarray(GOOD.predict(rows)[0])

    states = visited_states(hold, "CartPole-v1", 5, n_envs=4, n_steps=300)
    assert states.shape == (1200, 4)
    assert states.dtype == np.float32
    assert np.abs(states[:, ANGLE]).max() < 0.1
    falling = visited_states(
        lambda rows: np.zeros(len(rows), int), "CartPole-v1", 5, n_envs=4, n_steps=300
    )
    assert np.abs(falling[:, ANGLE]).max() > 0.15
    again = visited_states(hold, "CartPole-v1", 5, n_envs=4, n_steps=300)
    np.testing.assert_array_equal(states, again)
    other = visited_states(hold, "CartPole-v1", 6, n_envs=4, n_steps=300)
    assert not np.array_equal(states, other)


def test_at_most_so_many_states(monkeypatch):
    monkeypatch.setattr(prune, "MOST_STATES", 50)
    lazy = lambda rows: np.zeros(len(rows), int)
    assert visited_states(lazy, "CartPole-v1", 0, n_envs=4, n_steps=30).shape == (50, 4)
