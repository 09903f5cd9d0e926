"""How many states pass each node of a tree, and the values they have there."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree

BINS = 24


class Histogram(NamedTuple):
    """The values of a node's feature in the states that pass the node."""

    low: float
    high: float
    below: tuple[int, ...]
    """For each of the even bins from low to high: the states that go to the FALSE side."""
    above: tuple[int, ...]
    """The states that go to the TRUE side."""


def visit_counts(tree: CrispTree, states: NDArray) -> NDArray[np.int64]:
    """How many of the states `(states, features)` pass each node."""
    counts = np.bincount(tree.apply(states), minlength=tree.n_nodes)
    for node in reversed(tree.order):
        feature, _, if_true, if_false = tree.nodes[node]
        if feature >= 0:
            counts[node] = counts[if_true] + counts[if_false]
    return counts


def histograms(tree: CrispTree, states: NDArray) -> list[Histogram | None]:
    """For each inner node that some state passes with a finite value, its histogram."""
    found: list[Histogram | None] = [None] * tree.n_nodes
    passing = {0: tree.columns(np.asarray(states, np.float64))}
    for node in tree.order:
        here = passing.pop(node)
        feature, threshold, if_true, if_false = tree.nodes[node]
        if feature < 0:
            continue
        values = here[:, feature]
        is_true = values > threshold
        passing[if_true], passing[if_false] = here[is_true], here[~is_true]
        finite = np.isfinite(values)
        if finite.any():
            found[node] = _histogram(values[finite], is_true[finite])
    return found


def _histogram(values: NDArray[np.float64], is_true: NDArray[np.bool_]) -> Histogram:
    low, high = float(values.min()), float(values.max())
    width = high / 2 - low / 2  # half of it, since the whole may be too large for a float
    share = (values / 2 - low / 2) / width if width > 0 else np.zeros(len(values))
    bins = np.minimum((share * BINS).astype(np.int64), BINS - 1)
    below, above = (np.bincount(bins[side], minlength=BINS) for side in (~is_true, is_true))
    return Histogram(low, high, tuple(below.tolist()), tuple(above.tolist()))
