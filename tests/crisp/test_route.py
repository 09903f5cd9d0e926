import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_strategies import LISTS, NESTED, one_of_every_cell, tree_of

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crisp.route import BLOCK, FEW_ROWS, leaf_of

TREE = tree_of((0, 0.1, (1, 0.0, 0, 1), (2, -1.0, 1, 2)))


def action_of(nested, observation) -> int:
    """The policy by its definition (Eq. 3)."""
    while isinstance(nested, tuple):
        feature, threshold, if_true, if_false = nested
        nested = if_true if observation[feature] > threshold else if_false
    return nested


@given(NESTED)
def test_every_cell_of_space(nested):
    tree = tree_of(nested)
    cells = one_of_every_cell(tree)
    expected = [action_of(nested, row) for row in cells]
    assert tree.predict(cells)[0].tolist() == expected
    assert [tree.predict(row)[0] for row in cells] == expected


@settings(max_examples=30)
@given(NESTED | LISTS, st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]))
def test_one_few_and_many_take_the_same_way(nested, seed, dtype):
    tree = tree_of(nested)
    batch = np.random.default_rng(seed).normal(size=(3 * FEW_ROWS, 3)).astype(dtype)
    many = tree.apply(batch)
    assert many.dtype == np.int64
    assert (tree.feature[many] == -1).all()
    assert tree.apply(batch[:FEW_ROWS]).tolist() == many[:FEW_ROWS].tolist()
    assert [tree.apply(row) for row in batch] == many.tolist()
    assert [tree.apply(row.tolist()) for row in batch] == many.tolist()
    assert [tree.decision_path(row)[-1] for row in batch] == many.tolist()
    assert tree.apply(np.asfortranarray(batch)).tolist() == many.tolist()
    assert tree.predict(batch)[0].tolist() == tree.action[many].tolist()


def test_more_rows_than_a_block():
    batch = np.random.default_rng(0).normal(size=(2 * BLOCK + 7, 3))
    expected = [TREE.action[leaf_of(TREE.nodes, row)] for row in batch.tolist()]
    assert TREE.predict(batch)[0].tolist() == expected


def test_float32_is_compared_in_float64():
    """float32(0.1) is a little above 0.1: rounding the threshold instead would make them equal."""
    tree = tree_of((0, 0.1, 1, 0))
    assert tree.predict(np.array([0.1, 0, 0], dtype=np.float32))[0] == 1
    assert tree.predict(np.array([[0.1, 0, 0]] * 100, dtype=np.float32))[0].tolist() == [1] * 100
    assert tree.predict(np.array([0.1, 0, 0]))[0] == 0


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.int64, bool, np.float16, ">f4"])
def test_other_numbers_are_welcome(dtype):
    batch = np.array([[1, 0, 1], [0, 1, 0]], dtype=dtype)
    assert tree_of((0, 0.5, 2, 1)).predict(batch)[0].tolist() == [2, 1]
    assert tree_of((0, 0.5, 2, 1)).predict(batch[0])[0] == 2


def test_large_integers_round_alike_alone_and_in_a_batch():
    tree = tree_of((0, 2.0**53, 1, 0))
    observation = np.array([2**53 + 1, 0, 0])
    assert tree.predict(observation)[0] == tree.predict(observation[None])[0][0] == 0


def test_infinities_compare():
    inf = np.inf
    rows = np.array([[inf, -inf, 0], [-inf, inf, 0], [-inf, 0, -inf]])
    assert TREE.predict(rows)[0].tolist() == [1, 1, 2]
    assert [TREE.predict(row)[0] for row in rows] == [1, 1, 2]


def test_an_empty_batch():
    actions, _ = TREE.predict(np.zeros((0, 3)))
    assert actions.shape == (0,)
    assert actions.dtype == np.int64


@pytest.mark.parametrize(
    ("observation", "message"),
    [
        (np.zeros(2), r"shape \(3,\), a batch \(B, 3\); this one has \(2,\)"),
        (np.zeros((3, 2)), r"this one has \(3, 2\)"),
        (np.zeros((1, 1, 3)), r"this one has \(1, 1, 3\)"),
        (1.0, r"this one has \(\)"),
        ([], r"this one has \(0,\)"),
        (["0", "1", "2"], r"must be 3 numbers, or a batch of them; this one is list"),
        (np.array([1, 2, 3j]), r"this one is an array of complex128"),
        ([[1, 2, 3], [1, 2]], r"must be 3 numbers"),
        ({"position": 1}, r"this one is dict"),
        (None, r"this one is NoneType"),
    ],
)
def test_what_is_no_observation(observation, message):
    for method in (TREE.predict, TREE.apply, TREE.decision_path):
        with pytest.raises(CrisptreeError, match=message):
            method(observation)


@pytest.mark.parametrize(
    "row", [[0.5, 1.0], [1, 2.0], [True, 0.0], [np.inf, -np.inf], [np.nan, 2.0], (0.5, 1.0)]
)
def test_lists_and_arrays_reach_the_same_leaf(row):
    tree = CrispTree.from_nested((0, 0.5, 1, (1, 1.5, 1, 0)), ("a", "b"), ("left", "right"))
    assert tree.apply(row) == tree.apply(np.array(row, float)) == tree.apply([row])[0]


@pytest.mark.parametrize("row", [[0.5], [0.5, 1.0, 2.0], ["a", 0.5], [None, 1.0]])
def test_lists_are_looked_at_as_arrays_are(row):
    tree = CrispTree.from_nested((0, 0.5, 1, 0), ("a", "b"), ("left", "right"))
    with pytest.raises(CrisptreeError):
        tree.predict(row)
