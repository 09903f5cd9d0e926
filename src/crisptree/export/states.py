"""Observations on which a wrong export shows: at random, and one float away from each threshold."""

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree

Corner = list[tuple[int, float]]
"""Values of the features a leaf's path looks at, feature by feature."""

RANDOM_STATES = 20_000
MOST_NUMBERS = 2**23
"""How many numbers the states may hold in all; with thousands of features there are fewer."""


def states(tree: CrispTree, dtype: Any, count: int = RANDOM_STATES, seed: int = 0) -> NDArray:
    """`count` random observations of `dtype`, and those at the corners of the leaves."""
    rng = np.random.default_rng(seed)
    most = max(1, MOST_NUMBERS // tree.n_features)
    at_edges = corners(tree, dtype)
    at_edges = at_edges[:: max(1, -(-len(at_edges) // most))]
    found = _random(tree, dtype, min(count, most) + len(at_edges), rng)
    for state, corner in zip(found, at_edges, strict=False):
        for feature, value in corner:
            state[feature] = value
    return found


def corners(tree: CrispTree, dtype: Any) -> list[Corner]:
    """For each leaf its outermost observations of `dtype`: one just above every threshold it is
    above of, one on every threshold it is not above of. A leaf none can reach has none."""
    found: list[Corner] = []
    edges_of = cache(lambda above, at_most: _edges(above, at_most, dtype))
    for rule in tree.rules():
        edges = [edges_of(above, at_most) for _, above, at_most in rule.conditions]
        if all(math.isfinite(low) and low <= high < math.inf for low, high in edges):
            features = [condition.feature for condition in rule.conditions]
            first, last = ([edge[side] for edge in edges] for side in range(2))
            for values in [first] if first == last else [first, last]:
                found.append(list(zip(features, values, strict=True)))
    return found


def not_above(values: NDArray[np.float64], dtype: Any) -> NDArray:
    """The largest number of `dtype` that is not above each value; -inf below them all.

    A number of that type is above the one exactly if it is above the other.
    """
    with np.errstate(over="ignore"):
        rounded = values.astype(dtype)
    return np.where(rounded.astype(np.float64) > values, _beside(rounded, -np.inf), rounded)


def _beside(values: Any, towards: float) -> Any:
    """The next float on that side; beyond the largest comes infinity."""
    with np.errstate(over="ignore", under="ignore"):
        return np.nextafter(values, values.dtype.type(towards))


def _edges(above: float, at_most: float, dtype: Any) -> tuple[float, float]:
    """The first and the last number of `dtype` in `(above, at_most]`; an open side takes the
    other's."""
    first, last = not_above(np.array([above, at_most]), dtype)
    first = _beside(first, np.inf)
    if above == -math.inf:
        return float(last), float(last)
    return float(first), float(first if at_most == math.inf else last)


def _random(tree: CrispTree, dtype: Any, count: int, rng: np.random.Generator) -> NDArray:
    """Half of the numbers anywhere around a feature's thresholds, half on or beside one of them;
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
        beside = [_beside(on, side) for side in (-np.inf, np.inf)]
        picked = rng.choice(np.concatenate([on, *beside, extremes]), count)
        column = np.where(rng.random(count) < 0.5, anywhere, picked)
        found[:, feature] = np.clip(column, -largest, largest)
    return found
