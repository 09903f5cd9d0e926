import numpy as np
import pytest
from cartpole_trees import ANGLE, GOOD, LEFT, POSITION, RIGHT, SPIN, TASK, VELOCITY, cartpole
from hypothesis import given
from hypothesis import strategies as st
from kinds_of_tasks import BOX
from tree_strategies import LEAVES, LISTS, inner, one_of_every_cell, tree_of

from crisptree.crisp import CrispTree
from crisptree.crispen.config import PruneConfig
from crisptree.crispen.fit_linear import fit_linear
from crisptree.crispen.prune import (
    cut_away,
    cuts,
    ladder,
    prune_by_disagreement,
    prune_by_return,
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
VISITED = visited_states(WIDE, TASK, 0, most=4_000, episodes=16)


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


@given(SPLITS, st.integers(0, 1000), st.integers(2, 12))
def test_pruning_by_disagreement_reaches_the_size(nested, seed, size):
    tree, states = tree_of(nested), states_for(seed)
    smaller = prune_by_disagreement(tree, size, states)
    assert smaller.n_leaves <= max(size, 2)
    if tree.n_leaves <= size:
        assert smaller is tree


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


RNG = np.random.default_rng(0)
FEW = PruneConfig(races=3, ways=4, rounds=(4,))


class Constant(Selection):
    """Likes every tree as much as the others, or the ones with many leaves."""

    def __init__(self, a_leaf: float = 0.0) -> None:
        super().__init__(TASK, 0)
        self.a_leaf = a_leaf

    def returns(self, trees, episodes, least=2, most=None):
        return np.stack([np.full(episodes, self.a_leaf * tree.n_leaves) for tree in trees])


@given(SPLITS, st.integers(0, 1000), st.integers(2, 12))
def test_pruning_by_return_reaches_the_size(nested, seed, size):
    tree = tree_of(nested)
    smaller = prune_by_return(tree, size, states_for(seed), Constant(), RNG, FEW)
    assert smaller.n_leaves <= size
    if tree.n_leaves <= size:
        assert smaller is tree


def test_pruning_by_return_reaches_the_size_past_cuts_that_are_too_large():
    """A long list whose end no state reaches: the first dozens of cuts would take all of it."""
    nested: object = 1
    for i in range(30):
        nested = (0, float(100 + i), i % 2 * 2, nested)
    tree = tree_of(nested)
    assert tree.n_leaves == 31
    smaller = prune_by_return(tree, 28, states_for(0), Constant(a_leaf=1.0), RNG, FEW)
    assert 26 <= smaller.n_leaves <= 28


def test_pruning_by_return_keeps_what_earns():
    """Down to four leaves, CartPole is still balanced to the end."""
    selection = Selection(TASK, 1)
    smaller = prune_by_return(WIDE, 4, VISITED, selection, RNG, PruneConfig(rounds=(32, 64)))
    assert smaller.n_leaves <= 4
    assert np.mean(selection.returns([smaller], 64)[0]) > 495


@pytest.mark.parametrize("is_late", [False, True])
def test_lines_are_cut_and_fitted_again(is_late):
    """The nearer to the tree before, the more it earns: then new lines win the race."""
    x = np.random.default_rng(0).normal(size=(2_000, 3)).astype(np.float32)
    curved = np.stack([np.sin(2 * x[:, 0]), 5 + x[:, 0] * x[:, 1]], 1)
    tree = fit_linear(x, curved, None, 8, BOX, 0, gains=2)

    class Nearness(Selection):
        def returns(self, trees, episodes, least=2, most=None):
            errors = [np.square(each.act(x) - tree.act(x)).mean() for each in trees]
            return -np.repeat(np.array(errors)[:, None], 2, 1)

    late = lambda: is_late
    smaller = prune_by_return(tree, 3, x, Nearness(BOX, 0), RNG, PruneConfig(races=1), late)
    by_cuts = prune_by_disagreement(tree, 3, x)
    errors = [np.square(each.act(x) - tree.act(x)).mean() for each in (smaller, by_cuts)]
    assert smaller.n_leaves <= 3 and errors[0] < 0.9 * errors[1]


@pytest.mark.parametrize(("seconds", "races"), [(1e9, 3), (0.0, 2)])
def test_where_time_is_short_there_are_fewer_races_but_no_cut_without_one(seconds, races):
    class Counted(Constant):
        raced = 0

        def race(self, trees, rounds=(), keep=1 / 3):
            self.raced += 1
            return 0, 0.0

    selection = Counted()
    smaller = prune_by_return(
        WIDE, 4, VISITED, selection, RNG, PruneConfig(), seconds_left=lambda: seconds
    )
    assert smaller.n_leaves <= 4
    assert selection.raced == races


def test_ways_to_cut_are_compared_as_a_whole():
    """Either of two questions can go, but not both: the pair of cuts that change least is worst."""
    tree = cartpole((0, 0.0, (2, 0.0, 0, 1), (2, 0.0, 0, 1)))
    states = np.random.default_rng(0).normal(size=(400, 4))

    class Balanced(Selection):
        def returns(self, trees, episodes, least=2, most=None):
            return np.stack([np.full(episodes, float(2 in t.feature)) for t in trees])

    one_step = PruneConfig(races=1, rounds=(2,))
    rng = np.random.default_rng(1)
    smaller = prune_by_return(tree, 2, states, Balanced(TASK, 0), rng, one_step)
    assert 2 in smaller.feature


def test_free_cuts_keep_cartpole_at_500():
    selection = Selection(TASK, 1)
    assert (selection.returns([WIDE], 64)[0] == 500).all()
    smaller = prune_free(WIDE, VISITED, selection)
    assert smaller.n_leaves <= GOOD.n_leaves
    assert (selection.returns([smaller], 128)[0] > 499).mean() > 0.98


class Falling(Selection):
    """The tree that came in earns 10; every leaf that is lost costs one."""

    def __init__(self, n_leaves: int) -> None:
        super().__init__(TASK, 0)
        self.n_leaves = n_leaves

    def returns(self, trees, episodes, least=2, most=None):
        return np.stack([np.full(episodes, 10.0 + t.n_leaves - self.n_leaves) for t in trees])


def test_nothing_is_cut_that_costs():
    tree = cartpole((0, 0.0, (1, 1.0, (2, 1.0, 0, 1), (2, 2.0, 0, 1)), (1, 2.0, (3, 1.0, 0, 1), 0)))
    states = np.random.default_rng(0).normal(size=(100, 4))
    assert prune_free(tree, states, Falling(7)) is tree
    late = prune_free(tree, states, Constant(), is_late=lambda: True)
    assert late is tree


def test_visited_states_are_the_policys_own():
    """A pole that is held upright is seen upright; the same seed sees the same states."""
    states = visited_states(GOOD, TASK, 5, most=1200, episodes=4)
    assert states.shape == (1200, 4)
    assert states.dtype == np.float32
    assert np.abs(states[:, ANGLE]).max() < 0.1
    falling = visited_states(cartpole(LEFT), TASK, 5, episodes=4)
    assert np.abs(falling[:, ANGLE]).max() > 0.15
    again = visited_states(GOOD, TASK, 5, most=1200, episodes=4)
    np.testing.assert_array_equal(states, again)
    other = visited_states(GOOD, TASK, 6, most=1200, episodes=4)
    assert not np.array_equal(states, other)


def test_sizes_on_the_way_down():
    assert ladder(16, 4, 0.84) == [13, 11, 9, 8, 7, 6, 5, 4]
    assert ladder(4, 4, 0.84) == []
    assert ladder(3, 2, 0.99) == [2]
