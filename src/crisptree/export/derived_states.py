"""Observations for policies with derived features, where a threshold is met by a sum of numbers.

What a node compares can be moved to either side of its threshold by one number of the observation:
the feature itself, or the first that its sum adds. Two neighbouring floats of that number get
different answers from the comparison.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.signature import Terms

POOL = 5_000
TRIES = 64
"""Observations that are tried for each node, to find two with different actions."""


def random_states(tree: CrispTree, dtype: Any, count: int, rng: np.random.Generator) -> NDArray:
    """Numbers anywhere around the thresholds; in most rows one is such that a sum meets its
    threshold, as nearly as floats can."""
    reach = np.ones(tree.n_features)
    asked = [(_terms(tree, feature), t) for feature, t, _, _ in tree.nodes if feature >= 0]
    for terms, threshold in asked:
        for feature, weight in terms:
            reach[feature] = max(reach[feature], abs(threshold / weight))
    reach = np.minimum(reach, float(np.finfo(dtype).max) / 4)
    found = rng.uniform(-2, 2, (count, tree.n_features)) * reach
    found *= rng.choice([1.0, 0.1], found.shape)
    for at in np.flatnonzero(rng.random(count) < 0.75).tolist() if asked else ():
        terms, threshold = asked[rng.integers(len(asked))]
        feature, weight = terms[rng.integers(len(terms))]
        others = sum(w * found[at, f] for f, w in terms if f != feature)
        found[at, feature] = (threshold - others) / weight
    largest = float(np.finfo(dtype).max)
    return np.clip(found, -largest, largest).astype(dtype)


def neighbours(
    tree: CrispTree, dtype: Any, seed: int = 0
) -> Iterator[tuple[int, str, list[float]]]:
    """For each node that is met: its number, a side, and an observation that is just not above the
    threshold (`at`), just above, and one float further below, where these come to the node too."""
    pool = random_states(tree, dtype, POOL, np.random.default_rng(seed))
    reached = _rows_by_node(tree, pool)
    for node in tree.order:
        feature, threshold, _, _ = tree.nodes[node]
        if feature < 0:
            continue
        terms, best = _terms(tree, feature), None
        for row in reached[node][:TRIES].tolist():
            pair = _pair(terms, threshold, pool[row].astype(np.float64).tolist(), dtype)
            if pair is None or not all(node in tree.decision_path(each) for each in pair):
                continue
            best = best or pair
            if tree.leaf_at(_leaf(tree, pair[0])) != tree.leaf_at(_leaf(tree, pair[1])):
                best = pair
                break
        if best is None:
            continue
        moved, falling = terms[0][0], -np.inf if terms[0][1] > 0 else np.inf
        below = list(best[0])
        below[moved] = float(np.nextafter(dtype(below[moved]), dtype(falling)))
        if np.isfinite(below[moved]) and node in tree.decision_path(below):
            yield node, "below", below
        yield node, "at", best[0]
        yield node, "above", best[1]


def _terms(tree: CrispTree, feature: int) -> Terms:
    return tree.features[feature].terms or ((feature, 1.0),)


def _leaf(tree: CrispTree, state: Sequence[float]) -> int:
    return int(tree.apply(list(state)))


def _rows_by_node(tree: CrispTree, states: NDArray) -> dict[int, NDArray]:
    columns, found = tree.columns(states), {0: np.arange(len(states))}
    for node in tree.order:
        feature, threshold, if_true, if_false = tree.nodes[node]
        if feature >= 0:
            rows = found[node]
            goes_true = columns[rows, feature] > threshold
            found[if_true], found[if_false] = rows[goes_true], rows[~goes_true]
    return found


def _pair(
    terms: Terms, threshold: float, state: list[float], dtype: Any
) -> tuple[list[float], list[float]] | None:
    """The observation with its first summed number moved to just below the threshold, and to just
    above it; None where no number does that."""
    moved, weight = terms[0]

    def is_true(number: int) -> bool:
        values = list(state)
        values[moved] = _float(number, dtype)
        total = terms[0][1] * values[moved]
        for feature, factor in terms[1:]:
            total += factor * values[feature]
        return total > threshold

    most = _number(np.finfo(dtype).max, dtype)
    low, high = (-most, most) if weight > 0 else (most, -most)
    if is_true(low) or not is_true(high):
        return None
    while abs(high - low) > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_true(middle) else (middle, high)
    pair = []
    for number in (low, high):
        values = list(state)
        values[moved] = _float(number, dtype)
        pair.append(values)
    return pair[0], pair[1]


def _number(value: Any, dtype: Any) -> int:
    """The rank of a positive float among all of its type; 0 has rank 0."""
    whole = np.int32 if np.dtype(dtype).itemsize == 4 else np.int64
    return int(np.array(value, dtype).view(whole))


def _float(number: int, dtype: Any) -> float:
    """The float of a rank; negative floats have negative ranks."""
    whole = np.int32 if np.dtype(dtype).itemsize == 4 else np.int64
    size = float(np.array(abs(number), whole).view(dtype))
    return -size if number < 0 else size
