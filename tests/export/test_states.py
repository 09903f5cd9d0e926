import numpy as np
import pytest
from export_trees import EXTREME, grown, long_list
from hypothesis import given
from hypothesis import strategies as st

from crisptree.crisp import CrispTree
from crisptree.crisp.rounding import not_above
from crisptree.export import states as module
from crisptree.export.states import corners, states

FLOATS = [np.float32, np.float64]


@given(st.floats(allow_nan=False), st.floats(allow_nan=False, width=32))
def test_not_above_decides_alike_for_every_float32(threshold, value):
    rounded = float(not_above(np.array([threshold]), np.float32)[0])
    assert (value > threshold) == (value > rounded)


@given(st.floats(allow_nan=False, width=32))
def test_a_float32_is_its_own_largest_not_above(value):
    assert not_above(np.array([value]), np.float32)[0] == value


@pytest.mark.parametrize("dtype", FLOATS)
def test_corners_lie_in_their_leaves_and_one_step_further_does_not(dtype):
    tree = grown(32, 3)
    reached = set()
    for corner in corners(tree, dtype):
        state = np.zeros(tree.n_features, dtype)
        for feature, value in corner:
            state[feature] = value
        leaf = int(tree.apply(state))
        reached.add(leaf)
        rule = next(rule for rule in tree.rules() if rule.leaf == leaf)
        for feature, value in corner:
            _, above, at_most = next(each for each in rule.conditions if each.feature == feature)
            below, beyond = (float(np.nextafter(dtype(value), dtype(s))) for s in (-np.inf, np.inf))
            assert above < value <= at_most
            assert below <= above or beyond > at_most
    assert reached == {rule.leaf for rule in tree.rules() if _has_room(rule)}


def _has_room(rule):
    return all(above < at_most for _, above, at_most in rule.conditions)


def test_a_leaf_between_two_float32_neighbours_has_no_float32_corner():
    low, high = 0.1, float(np.nextafter(0.1, 1))
    nested = ("a", low, ("a", high, 0, 1), 0)
    tree = CrispTree.from_nested(nested, ("a",), ("out", "in"))
    actions = {
        dtype: {int(tree.predict(dtype([corner[0][1]]))[0]) for corner in corners(tree, dtype)}
        for dtype in FLOATS
    }
    assert actions == {np.float64: {0, 1}, np.float32: {0}}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("tree", [grown(32, 0), EXTREME, long_list(50)])
def test_states_are_finite_and_hit_both_sides_of_every_node_they_can(tree, dtype):
    found = states(tree, dtype, count=2000)
    assert found.dtype == dtype and np.isfinite(found).all()
    assert {rule.leaf for rule in tree.rules()} >= set(tree.apply(found).tolist())
    for corner in corners(tree, dtype):
        assert any(all(row[f] == v for f, v in corner) for row in found[: tree.n_leaves * 2])


def test_the_same_seed_gives_the_same_states():
    tree = grown(8, 0)
    assert np.array_equal(states(tree, np.float64, 50), states(tree, np.float64, 50))
    assert not np.array_equal(states(tree, np.float64, 50), states(tree, np.float64, 50, seed=1))


def test_thousands_of_features_get_fewer_states(monkeypatch):
    monkeypatch.setattr(module, "MOST_NUMBERS", 800)
    assert states(grown(32, 0), np.float64, 1000).shape[0] <= 200
