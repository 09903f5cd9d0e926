"""From a crisp tree back to a soft one, to go on learning: a warm start."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crispen.feature_units import sums_of, units_of
from crisptree.learn.heads import head_for
from crisptree.learn.moments import Moments, units
from crisptree.soft import AxisTree
from crisptree.soft.paths import Paths, room_for
from crisptree.soft.topology import from_children


def soften(
    tree: CrispTree,
    moments: Moments,
    steepness: float = 8.0,
    leaf_logit: float = 2.5,
    gains: int = 0,
) -> AxisTree:
    """An axis-aligned tree with the same features, comparators and leaves, and room for more.

    Comparators are in the units that `moments` standardise to; real actions in units of their
    bounds. The tree's own gains stay the only ones that count; `gains` makes leaves without any
    linear, with at most so many for each dimension of the action.
    """
    topology, inner, at = from_children(tree.if_true.tolist(), tree.if_false.tolist())
    features = tree.feature[list(inner)]
    mean, deviation = units_of(tree.features, moments)
    comparators = (tree.threshold[list(inner)] - mean[features]) / deviation[features]
    leaves, weights = _leaf_outputs(tree, list(at), moments, leaf_logit)
    most = max(gains, int((weights != 0).sum(-1).max(initial=0)))
    kept = weights != 0
    # A dimension of a leaf that has no gains yet may choose among all features.
    kept = np.where(kept.any(-1, keepdims=True), kept, gains > 0)
    paths = Paths.of(topology, room_for(topology.n_leaves))
    n_leaves, n_nodes = paths.goes_true.shape
    return AxisTree(
        features=_with_room(features, n_nodes, np.int32),
        comparators=_with_room(comparators, n_nodes),
        steepness=jnp.asarray(steepness, jnp.float32),
        leaves=_with_room(leaves, n_leaves),
        paths=paths,
        gains=_with_room(weights, n_leaves) if most else None,
        kept_gains=_with_room(kept, n_leaves, np.bool_) if most else None,
        max_gains=most,
        head=head_for(tree.actions),
        sums=sums_of(tree.features, moments),
    )


def _with_room(values: NDArray, n: int, dtype: type = np.float32) -> Array:
    """The values padded with zeros to `n`."""
    spare = [(0, n - len(values)), *[(0, 0)] * (values.ndim - 1)]
    return jnp.asarray(np.pad(values.astype(dtype), spare))


def _leaf_outputs(
    tree: CrispTree, at: list[int], moments: Moments, leaf_logit: float
) -> tuple[NDArray, NDArray]:
    """`(leaves, outputs)`, and gains `(leaves, outputs, features)` on standardised features."""
    actions, held = tree.actions, tree.action[at]
    weights = np.zeros((len(at), actions.n_outputs, tree.n_features))
    if actions.kind == "discrete":
        return leaf_logit * np.eye(tree.n_actions)[held], weights
    if actions.kind == "multi_discrete":
        parts = [
            leaf_logit * np.eye(len(choices))[held[:, i]]
            for i, choices in enumerate(actions.choices)
        ]
        return np.concatenate(parts, 1), weights
    low, high = np.asarray(actions.low), np.asarray(actions.high)
    mean, deviation = units(moments)
    constants = held.astype(np.float64)
    for leaf, node in enumerate(at):
        for dimension, feature, weight in tree.gains[node] if tree.gains else ():
            weights[leaf, dimension, feature] += weight * deviation[feature]
            constants[leaf, dimension] += weight * mean[feature]
    half = 0.5 * (high - low)
    return (constants - low) / half - 1, weights / half[:, None]
