"""From node decisions to the leaves: path products in log space.

log P(leaf) = Σ over its path of log μ (TRUE) or log(1 - μ) (FALSE). A sum of logarithms stays
finite however long the path is, and as a matrix product it is one fast operation for any shape.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from crisptree.soft.topology import Topology, path_matrices


def leaf_log_probabilities(
    margins: Float[Array, "nodes *rows"], topology: Topology
) -> Float[Array, "leaves *rows"]:
    """log P(leaf) from the margins α(βᵀx - φ), with μ = sigmoid(margin) (Eq. 4)."""
    goes_true, goes_false = (jnp.asarray(part.T) for part in path_matrices(topology))
    log_true = jax.nn.log_sigmoid(margins)
    # log(1 - μ) = log μ - margin, node by node: after the sums, large margins no longer cancel.
    return goes_true @ log_true + goes_false @ (log_true - margins)


def as_column(values: Float[Array, " n"], x: Float[Array, "n *rows"]) -> Float[Array, "n *_"]:
    """One value for each row of `x`, shaped so that it meets every column."""
    return values.reshape(-1, *(1,) * (x.ndim - 1))
