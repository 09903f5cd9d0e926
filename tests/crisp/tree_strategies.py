"""Random crisp trees, and the observations that tell two of them apart for certain."""

import itertools
import math

import numpy as np
from hypothesis import strategies as st

from crisptree.crisp import Actions, CrispTree

FEATURES = ("a", "b", "c")
ACTIONS = ("left", "stay", "right")

# Few values, so that paths often ask the same thing twice; now and then any number at all.
THRESHOLDS = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]) | st.floats(
    allow_nan=False, allow_infinity=False
)


def inner(children: st.SearchStrategy) -> st.SearchStrategy:
    return st.tuples(st.integers(0, len(FEATURES) - 1), THRESHOLDS, children, children)


LEAVES = st.integers(0, len(ACTIONS) - 1)
NESTED = st.recursive(LEAVES, inner, max_leaves=16)
LISTS = st.recursive(
    LEAVES,
    lambda rest: st.tuples(st.integers(0, len(FEATURES) - 1), THRESHOLDS, LEAVES, rest),
    max_leaves=16,
)


def tree_of(nested) -> CrispTree:
    """To be called in the test: the type checks draw random numbers, which strategies must not."""
    return CrispTree.from_nested(nested, FEATURES, ACTIONS)


def one_of_every_cell(tree: CrispTree) -> np.ndarray:
    """One observation for each box into which the tree's thresholds cut space.

    Between neighbouring thresholds s < t the cell is (s, t], so t itself stands for it, and
    infinity for the last one. Two trees over these thresholds that agree here agree everywhere.
    """
    values: list[set[float]] = [{math.inf} for _ in tree.feature_names]
    for feature, threshold, _, _ in tree.nodes:
        if feature >= 0:
            values[feature].add(threshold)
    return np.array(list(itertools.product(*map(sorted, values))))


MULTI = Actions.multi_discrete(("gear", "lamp"), (("low", "high"), ("off", "dim", "on")), (1, 0))
BOX = Actions.box(("torque", "brake"), (-2.0, 0.0), (2.0, 1.0))

_TORQUE = st.sampled_from([-2.0, -0.5, 0.0, 0.1, 2.0])
_BRAKE = st.sampled_from([0.0, 0.3, 1.0])
_WEIGHTS = st.dictionaries(
    st.sampled_from(FEATURES), st.sampled_from([-3.1, 0.1, 1e300]), max_size=3
)
CONSTANT_LEAVES = st.tuples(_TORQUE, _BRAKE).map(list)
LINEAR_LEAVES = st.tuples(st.tuples(_TORQUE, _WEIGHTS), st.tuples(_BRAKE, _WEIGHTS)).map(list)
MULTI_LEAVES = st.tuples(st.integers(0, 1), st.integers(0, 2)).map(list)


def tree_with(nested, actions: Actions) -> CrispTree:
    return CrispTree.from_nested(nested, FEATURES, actions=actions)


EVERY_KIND = st.one_of(
    st.tuples(st.recursive(LEAVES, inner, max_leaves=8), st.just(Actions.discrete(ACTIONS, 3))),
    st.tuples(st.recursive(MULTI_LEAVES, inner, max_leaves=8), st.just(MULTI)),
    st.tuples(st.recursive(CONSTANT_LEAVES, inner, max_leaves=8), st.just(BOX)),
    st.tuples(st.recursive(LINEAR_LEAVES, inner, max_leaves=8), st.just(BOX)),
)
"""Arguments of `tree_with`: a nested tree and its actions."""
