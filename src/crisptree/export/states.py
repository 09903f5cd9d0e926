"""Observations on which a wrong export shows: at random, and one float away from each threshold."""

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.rounding import next_float, not_above
from crisptree.export.derived_states import random_states
from crisptree.export.vectors import as_array, thinned, vectors

Corner = list[tuple[int, float]]
"""Values of the features a leaf's path looks at, feature by feature."""

RANDOM_STATES = 20_000
MISSING_STATES = 256
MOST_NUMBERS = 2**23
"""Most numbers that the states hold in all; with thousands of features there are fewer states."""


def states(tree: CrispTree, dtype: Any, count: int = RANDOM_STATES, seed: int = 0) -> NDArray:
    """`count` random observations of `dtype`, those at the corners of the leaves, and the test
    vectors."""
    rng = np.random.default_rng(seed)
    most = max(1, MOST_NUMBERS // tree.n_features)
    own = as_array(thinned(vectors(tree, dtype), most), dtype).reshape(-1, tree.n_features)
    if len(tree.features) > tree.n_features:
        return np.concatenate([random_states(tree, dtype, min(count, most), rng), own])
    at_corners = thinned(corners(tree, dtype), most)
    found = _random(tree, dtype, min(count, most) + len(at_corners), rng)
    for state, corner in zip(found, at_corners, strict=False):
        for feature, value in corner:
            state[feature] = value
    return np.concatenate([found, own])


def with_missing(found: NDArray, seed: int = 0) -> NDArray:
    """Some of these observations, with NaN for a few of their features, for all, or for one."""
    rng = np.random.default_rng(seed)
    some = found[rng.integers(len(found), size=MISSING_STATES)].copy()
    share = rng.choice([0.05, 0.5, 1.0], size=(MISSING_STATES, 1))
    some[rng.random(some.shape) < share] = np.nan
    rows = np.arange(MISSING_STATES)
    some[rows, rng.integers(found.shape[1], size=MISSING_STATES)] = np.nan
    return some


def corners(tree: CrispTree, dtype: Any) -> list[Corner]:
    """For each leaf its outermost observations of `dtype`: one just above every threshold it is
    above of, one on every threshold it is not above of. A leaf none can reach has none."""
    found: list[Corner] = []
    edges_of = cache(lambda above, at_most: _edges(above, at_most, dtype))
    for leaf in tree.leaves():
        edges = [edges_of(above, at_most) for _, above, at_most in leaf.conditions.values()]
        if all(math.isfinite(low) and low <= high < math.inf for low, high in edges):
            first, last = ([edge[side] for edge in edges] for side in range(2))
            for values in [first] if first == last else [first, last]:
                found.append(list(zip(leaf.conditions, values, strict=True)))
    return found


def _edges(above: float, at_most: float, dtype: Any) -> tuple[float, float]:
    """The first and the last number of `dtype` in `(above, at_most]`; without one bound, both are
    next to the other."""
    first, last = not_above(np.array([above, at_most]), dtype)
    first = next_float(first, np.inf)
    if above == -math.inf:
        return float(last), float(last)
    return float(first), float(first if at_most == math.inf else last)


def _random(tree: CrispTree, dtype: Any, count: int, rng: np.random.Generator) -> NDArray:
    """Half of the numbers anywhere around a feature's thresholds, half on or next to one of them;
    a few are zero or as large as they get."""
    largest = float(np.finfo(dtype).max)
    extremes = np.array([0.0, -0.0, 1.0, -1.0, np.finfo(dtype).tiny, largest, -largest], dtype)
    found = np.empty((count, tree.n_features), dtype)
    for feature in range(tree.n_features):
        thresholds = np.unique(tree.threshold[tree.feature == feature])
        middle = float(np.median(thresholds)) if thresholds.size else 0.0
        reach = max(float(np.abs(thresholds - middle).max(initial=0.0)), 1.0)
        with np.errstate(over="ignore"):
            anywhere = middle + 2 * reach * rng.uniform(-1, 1, count)
        on = not_above(thresholds, dtype)
        around = [next_float(on, side) for side in (-np.inf, np.inf)]
        picked = rng.choice(np.concatenate([on, *around, extremes]), count)
        column = np.where(rng.random(count) < 0.5, anywhere, picked)
        found[:, feature] = np.clip(column, -largest, largest)
    return found
