import csv
import io
from itertools import pairwise

import numpy as np
import pytest
from export_trees import EVERY, EXTREME, HOSTILE, LEAF, SUMS, grown, long_list
from hypothesis import given
from tree_strategies import EVERY_KIND, tree_with

from crisptree.crisp import CrispTree, Feature
from crisptree.crisp.rounding import next_float, not_above
from crisptree.export.expected import expected
from crisptree.export.vectors import as_csv, thinned, vectors

FLOATS = [np.float64, np.float32]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("tree", [grown(64, 0), long_list(40), EXTREME, *EVERY.values()])
def test_every_vector_says_what_the_policy_does(tree, dtype):
    found = vectors(tree, dtype)
    states = np.array([vector.state for vector in found])
    assert np.array_equal(states, states.astype(dtype))
    assert np.isfinite(states).all()
    wanted = expected(tree, states).reshape(len(found), -1)
    assert [list(vector.action) for vector in found] == wanted.tolist()


@pytest.mark.parametrize("tree", [grown(64, 0), long_list(40), *EVERY.values()])
def test_both_outcomes_of_every_comparison_are_met(tree):
    """Of every comparison that both outcomes of can happen."""
    tree = tree.simplify()
    outcomes = set()
    for vector in vectors(tree, np.float64):
        path = tree.decision_path(vector.state)
        assert vector.node in path
        for node, child in pairwise(path):
            outcomes.add((node, child == tree.if_true[node]))
    inner = np.flatnonzero(tree.feature >= 0).tolist()
    assert outcomes == {(node, answer) for node in inner for answer in (True, False)}


def test_a_comparison_alone_decides():
    """The vectors at and above differ in one feature by one float, and in the action."""
    tree = grown(64, 3).simplify()
    by_node: dict = {}
    for vector in vectors(tree, np.float64):
        by_node.setdefault(vector.node, {})[vector.side] = vector
    assert set(by_node) == set(np.flatnonzero(tree.feature >= 0).tolist())
    for node, sides in by_node.items():
        at, above = sides["at"], sides["above"]
        different = [
            i for i, pair in enumerate(zip(at.state, above.state, strict=True)) if len({*pair}) > 1
        ]
        assert different == [tree.feature[node]]
        assert at.state[different[0]] == tree.threshold[node]
        assert above.state[different[0]] == np.nextafter(tree.threshold[node], np.inf)
        assert at.action != above.action


@given(EVERY_KIND)
def test_any_tree(written):
    tree = tree_with(*written)
    for vector in vectors(tree, np.float32):
        assert vector.node in tree.decision_path(vector.state)


def test_values_lie_within_what_is_known_of_a_feature():
    features = (Feature("a", low=2.0, high=8.0), Feature("b", low=-4.0, high=-1.0))
    tree = CrispTree.from_nested((0, 5.0, (1, -2.0, 0, 1), 1), (), ("l", "r"), features=features)
    for a, b in (vector.state for vector in vectors(tree, np.float64)):
        assert 2.0 <= a <= 8.0 and -4.0 <= b <= -1.0


def test_a_lone_leaf_has_one():
    (vector,) = vectors(LEAF, np.float64)
    assert (vector.state, vector.action, vector.side) == ((0.0, 0.0), (1,), "")


def test_the_table():
    rows = list(csv.reader(io.StringIO(as_csv(HOSTILE, vectors(HOSTILE, np.float64)))))
    assert rows[0][:2] == ["node", "side"] and rows[0][-1] == "action"
    assert len(rows[0]) == 3 + HOSTILE.n_features
    for row, vector in zip(rows[1:], vectors(HOSTILE, np.float64), strict=True):
        assert tuple(map(float, row[2:-1])) == vector.state
        assert int(row[-1]) == vector.action[0]


def test_names_are_no_formulas():
    tree = CrispTree.leaf(0, ("=1+1", "+a", "-a", "@a"), ("x",))
    head = as_csv(tree, vectors(tree, np.float64)).splitlines()[0]
    assert head == "node,side,'=1+1,'+a,'-a,'@a,action"


def test_thinned():
    assert thinned(range(10), 20) == list(range(10))
    assert thinned(range(10), 5) == [0, 2, 4, 6, 8]
    assert len(thinned(range(10), 4)) <= 4


@pytest.mark.parametrize("dtype", FLOATS)
def test_next_float(dtype):
    at = not_above(np.array([0.1]), dtype)
    assert next_float(at, -np.inf) < at < next_float(at, np.inf)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_are_met_from_both_sides(dtype):
    tree = SUMS["choices"].simplify()
    found = vectors(tree, dtype)
    at = {vector.node: vector.state for vector in found if vector.side == "at"}
    above = {vector.node: vector.state for vector in found if vector.side == "above"}
    assert at.keys() == above.keys()
    met = {node for node in tree.order if tree.feature[node] >= 0}
    assert len(at) > 0.7 * len(met)
    for node, state in at.items():
        (moved,) = np.flatnonzero(np.array(state) != np.array(above[node]))
        one, other = dtype(state[moved]), dtype(above[node][moved])
        assert np.nextafter(one, other) == other  # neighbouring floats
        on, beyond = tree.columns([state, above[node]])[:, tree.feature[node]]
        assert not on > tree.threshold[node] and beyond > tree.threshold[node]
        assert node in tree.decision_path(list(state))
        assert node in tree.decision_path(list(above[node]))
