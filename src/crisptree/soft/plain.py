"""A tree's policy in NumPy, for acting a few rows at a time.

There a compiled call costs several times the arithmetic: its threads have to be woken on cores that
are busy with the environments.
"""

from collections.abc import Callable

import jax
import numpy as np
from jaxtyping import Float

from crisptree.soft.axis_tree import AxisTree
from crisptree.soft.paths import SMALLEST_PROBABILITY
from crisptree.soft.topology import path_matrices
from crisptree.soft.tree import SoftTree

Rows = Float[np.ndarray, "S N _"]


def log_policies(trees: SoftTree | AxisTree) -> Callable[[Rows], Rows]:
    """Of S stacked trees: from observations (S, N, F) to log π (S, N, A), as `log_policy` does."""
    trees = jax.tree.map(np.asarray, trees)
    goes_true, goes_false = path_matrices(trees.topology)
    likely = np.exp(trees.leaves - trees.leaves.max(-1, keepdims=True))
    likely /= likely.sum(-1, keepdims=True)
    comparators = trees.comparators[:, None]
    steepness = trees.steepness.reshape(len(comparators), 1, -1)

    def asked(x: Rows) -> Rows:
        if isinstance(trees, SoftTree):
            return x @ trees.weights.swapaxes(-1, -2)
        if len(x) == 1:  # a fifth of the time
            return x[:, :, np.asarray(trees.features)[0]]
        return np.take_along_axis(x, np.asarray(trees.features)[:, None], -1)

    def log_policy(x: Rows) -> Rows:
        margins = steepness * (asked(x) - comparators)
        log_true = np.minimum(margins, 0) - np.log(1 + np.exp(-np.abs(margins)))
        log_leaf = log_true @ goes_true + (log_true - margins) @ goes_false
        return np.log(np.maximum(np.exp(log_leaf) @ likely, np.float32(SMALLEST_PROBABILITY)))

    return log_policy
