"""Leaves of several choices, of real vectors and of linear formulas: what they give."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import BOX, EVERY_KIND, FEATURES, MULTI, one_of_every_cell, tree_with

from crisptree.crisp import Actions, CrispTree


def vector(nested, observation):
    """The action of a box policy by its definition, for a tree as `from_nested` takes it."""
    while isinstance(nested, tuple):
        feature, threshold, if_true, if_false = nested
        nested = if_true if observation[feature] > threshold else if_false
    found = []
    for value, low, high in zip(nested, BOX.low, BOX.high, strict=True):
        constant, weights = value if isinstance(value, tuple) else (value, {})
        for name in sorted(weights, key=FEATURES.index):
            constant += weights[name] * observation[FEATURES.index(name)]
        found.append(min(max(constant, low), high) if constant == constant else low)
    return found


ROWS = st.lists(
    st.tuples(*[st.floats(allow_nan=False, width=32)] * 3), min_size=1, max_size=5
) | st.just([(math.inf, -math.inf, 1.0), (1e308, 1e308, -1e308)])


@given(EVERY_KIND.filter(lambda each: each[1] is BOX), ROWS)
def test_a_box_policy_does_what_it_says(written, rows):
    tree = tree_with(*written)
    batch = np.array(rows * 20, dtype=np.float64)  # more rows than are walked one by one
    expected = [vector(written[0], row) for row in batch.tolist()]
    assert tree.act(batch).tolist() == expected
    assert tree.predict(batch)[0].tolist() == np.array(expected, np.float32).tolist()
    for row, action in zip(batch[: len(rows)], expected, strict=False):
        assert tree.act(row).tolist() == action
        assert tree.predict(row)[0].tolist() == np.array(action, np.float32).tolist()
        assert tree.predict(list(row))[0].dtype == np.float32


@given(EVERY_KIND)
def test_one_observation_and_a_batch_get_the_same(written):
    tree = tree_with(*written)
    cells = one_of_every_cell(tree)
    many, _ = tree.predict(cells)
    assert many.dtype == tree.actions.dtype
    for cell, action in zip(cells, many, strict=True):
        one, _ = tree.predict(cell)
        assert one.dtype == many.dtype
        assert np.array_equal(one, action)


@given(EVERY_KIND)
def test_the_environment_s_start_is_added_for_it_alone(written):
    tree = tree_with(*written)
    cells = one_of_every_cell(tree)
    start = np.array(tree.actions.start or 0)
    own = tree.act(cells)
    assert np.array_equal(tree.predict(cells)[0], (own + start).astype(tree.actions.dtype))
    assert own.dtype == (np.float64 if tree.actions.kind == "box" else np.int64)


def test_bounds_hold_in_every_dtype():
    actions = Actions.box(("x",), (-0.1,), (0.1,), dtype="float16")
    tree = CrispTree.from_nested([(0.0, {"a": 1.0})], ("a",), actions=actions)
    low, high = (tree.predict([x])[0] for x in (-9.0, 9.0))
    assert (low.dtype, low[0], high[0]) == (np.float16, np.float16(-0.1), np.float16(0.1))


@pytest.mark.parametrize("leaf", [[1.0, 2.0, 3.0, 4.0], [(1.0, {"a": 0.0}), 2.0, 3.0, 4.0]])
def test_the_environment_s_shape(leaf):
    names = ("p", "q", "r", "s")
    bounds = (0.0,) * 4, (9.0,) * 4
    actions = Actions.box(names, *bounds, dtype="float64", shape=(2, 2))
    tree = CrispTree.from_nested(leaf, ("a",), actions=actions)
    assert tree.predict([0.0])[0].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert tree.predict([[0.0]] * 3)[0].shape == (3, 2, 2)
    assert tree.act([[0.0]] * 3).shape == (3, 4)


def test_a_linear_shape():
    actions = Actions.box(("p", "q"), (0.0, 0.0), (9.0, 9.0), shape=(2, 1))
    tree = CrispTree.from_nested([(0.0, {"a": 2.0}), 1.0], ("a",), actions=actions)
    assert tree.predict([2.0])[0].tolist() == [[4.0], [1.0]]
    assert tree.predict([[2.0], [3.0]])[0].tolist() == [[[4.0], [1.0]], [[6.0], [1.0]]]


def test_an_action_is_the_caller_s_own():
    tree = tree_with([1.0, 0.5], BOX)
    action, _ = tree.predict([0.0, 0.0, 0.0])
    action[0] = -2.0
    assert tree.predict([0.0, 0.0, 0.0])[0].tolist() == [1.0, 0.5]


def test_what_is_no_number_becomes_the_lower_bound():
    tree = tree_with([(0.0, {"a": 1.0, "b": 1.0}), 0.5], BOX)
    infinite = np.array([math.inf, -math.inf, 0.0])
    assert tree.predict(infinite)[0].tolist() == [-2.0, 0.5]
    assert tree.predict(np.array([infinite] * 100))[0].tolist() == [[-2.0, 0.5]] * 100


def test_zero_gains_go_and_the_rest_is_sorted():
    leaf = {"torque": (0.0, {"c": 1.0, "a": 2.0, "b": 0.0}), "brake": (0.0, {"b": 1.0})}
    assert tree_with(leaf, BOX).gains == (((0, 0, 2.0), (0, 2, 1.0), (1, 1, 1.0)),)


def test_leaves_by_name_and_by_place():
    assert tree_with({"lamp": "on", "gear": "high"}, MULTI) == tree_with([1, 2], MULTI)
    assert tree_with({"brake": 1, "torque": -1}, BOX) == tree_with(np.array([-1.0, 1.0]), BOX)
    one = Actions.box(("x",), (0.0,), (1.0,))
    by_hand = [0.5, [0.5], {"x": 0.5}, np.array([0.5])]
    assert len({CrispTree.from_nested(leaf, ("a",), actions=one) for leaf in by_hand}) == 1
    linear = [(0.5, {"a": 1.0}), [(0.5, {0: 1.0})], {"x": (0.5, {"a": 1})}]
    assert len({CrispTree.from_nested(leaf, ("a",), actions=one) for leaf in linear}) == 1
