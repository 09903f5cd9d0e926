"""The rule for NaN, and that all exports keep it."""

import math

import numpy as np
import pytest
from export_trees import BOX, grown
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import EVERY_KIND, tree_with

from crisptree.crisp import CrispTree
from crisptree.export import check
from crisptree.export.check import ExportError
from crisptree.export.expected import expected

VALUES = st.sampled_from([math.nan, -1.0, 0.0, 0.5, 2.0, math.inf, -math.inf])


def by_definition(tree: CrispTree, state: list[float]) -> list[float]:
    node = 0
    while tree.feature[node] >= 0:
        goes_true = state[tree.feature[node]] > tree.threshold[node]
        node = int((tree.if_true if goes_true else tree.if_false)[node])
    if tree.actions.kind != "box":
        start = tree.actions.start or [0] * tree.actions.n_values
        return [int(a) + s for a, s in zip(np.ravel(tree.action[node]), start, strict=True)]
    found = tree.action[node].tolist()
    for dimension, feature, weight in tree.gains[node]:
        found[dimension] += weight * state[feature]
    bounds = zip(found, tree.actions.low, tree.actions.high, strict=True)
    return [min(max(value, low), high) if value == value else low for value, low, high in bounds]


@given(EVERY_KIND, st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=4))
def test_nan_is_false_in_comparisons_and_low_in_formulas(written, rows):
    tree = tree_with(*written)
    states = np.array(rows)
    found = expected(tree, states).reshape(len(rows), -1).tolist()
    assert found == [by_definition(tree, row) for row in states.tolist()]


@given(EVERY_KIND, st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=4))
def test_it_is_what_predict_gives_for_a_batch_and_for_each_observation(written, rows):
    tree = tree_with(*written)
    states = np.concatenate([rows, np.random.default_rng(0).normal(size=(20, 3))])
    found = expected(tree, states).astype(tree.actions.dtype)
    assert np.array_equal(found, tree.predict(states)[0])
    one_by_one = [tree.predict(state)[0] for state in states]
    assert np.array_equal(found, np.array(one_by_one).reshape(found.shape))


def test_the_check_notices_who_lets_nan_be_true():
    tree = grown(8, 0)

    def otherwise(states):
        return expected(tree, np.where(np.isnan(states), np.inf, states))

    with pytest.raises(ExportError, match="nan"):
        check(tree, otherwise, np.float64, 100)


def test_the_check_notices_a_formula_that_ends_at_the_other_bound():
    tree = CrispTree.from_nested([(0.0, {"a": 1.0}), 0.0], ("a",), actions=BOX)

    def otherwise(states):
        found = expected(tree, states)
        found[np.isnan(states).any(axis=1), 0] = 2.0
        return found

    with pytest.raises(ExportError, match="nan"):
        check(tree, otherwise, np.float64, 100)
