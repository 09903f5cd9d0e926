"""From a crisp tree back to a soft one, to go on learning: a warm start."""

import jax.numpy as jnp
import numpy as np

from crisptree.crisp import CrispTree
from crisptree.learn.moments import Moments
from crisptree.soft import AxisTree
from crisptree.soft.topology import from_children

LEAF_LOGIT = 2.5


def soften(
    tree: CrispTree, moments: Moments, steepness: float = 8.0, leaf_logit: float = LEAF_LOGIT
) -> AxisTree:
    """An axis-aligned tree with the same features, comparators and favourite actions.

    Comparators are in the units that `moments` standardise to.
    """
    topology, inner, leaves = from_children(tree.if_true.tolist(), tree.if_false.tolist())
    features = tree.feature[list(inner)]
    mean, deviation = np.asarray(moments.mean), np.asarray(moments.deviation)
    comparators = (tree.threshold[list(inner)] - mean[features]) / deviation[features]
    logits = leaf_logit * np.eye(tree.n_actions)[tree.action[list(leaves)]]
    return AxisTree(
        features=jnp.asarray(features, jnp.int32),
        comparators=jnp.asarray(comparators, jnp.float32),
        steepness=jnp.asarray(steepness, jnp.float32),
        leaves=jnp.asarray(logits, jnp.float32),
        topology=topology,
    )
