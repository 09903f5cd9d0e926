"""From node decisions to the leaves: path products in log space.

log P(leaf) = Σ over its path of log μ (TRUE) or log(1 - μ) (FALSE). A sum of logarithms stays
finite however long the path is, and as a matrix product it is one fast operation for any shape.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from crisptree.soft.topology import Topology, path_matrices

NEVER = -1e9
"""The log-probability of a leaf that is not in use."""


class Paths(eqx.Module):
    """The path to every leaf as arrays: trees of any shape share a program if arrays have one size.

    There may be room for more nodes and leaves than the tree has; the tree's own come first.
    """

    goes_true: Bool[Array, "leaves nodes"]
    """The leaf's path goes TRUE at the node."""
    goes_false: Bool[Array, "leaves nodes"]
    in_use: Bool[Array, " leaves"]

    @staticmethod
    def of(topology: Topology, n_leaves: int | None = None) -> "Paths":
        """The paths of a topology, with room for `n_leaves` leaves."""
        room = topology.n_leaves if n_leaves is None else n_leaves
        spare = room - topology.n_leaves
        true, false = (np.pad(part.T.astype(bool), (0, spare)) for part in path_matrices(topology))
        return Paths(jnp.asarray(true), jnp.asarray(false), jnp.arange(room) < topology.n_leaves)

    @property
    def topology(self) -> Topology:
        """The topology that these are the paths of."""
        true, false = np.asarray(self.goes_true).T, np.asarray(self.goes_false).T
        n_nodes = int(np.asarray(self.in_use).sum()) - 1
        below = {leaves.tobytes(): node for node, leaves in enumerate(true | false)}

        def child(leaves: np.ndarray) -> int:
            return below[leaves.tobytes()] if leaves.sum() > 1 else ~int(leaves.argmax())

        sides = ([child(leaves) for leaves in side[:n_nodes]] for side in (true, false))
        return Topology(*(tuple(side) for side in sides))


def room_for(n_leaves: int) -> int:
    """8, 12, 16, 24, 32, 48, …: a few sizes, so that trees of about one size share a program."""
    room = 8
    while room < n_leaves:
        room = room * 3 // 2 if room & (room - 1) == 0 else room * 4 // 3
    return room


def leaf_log_probabilities(
    margins: Float[Array, "nodes *rows"], paths: Paths
) -> Float[Array, "leaves *rows"]:
    """log P(leaf) from the margins α(βᵀx - φ), with μ = sigmoid(margin) (Eq. 4)."""
    log_true = jax.nn.log_sigmoid(margins)
    # log(1 - μ) = log μ - margin, node by node: after the sums, large margins no longer cancel.
    sums = paths.goes_true * 1.0 @ log_true + paths.goes_false * 1.0 @ (log_true - margins)
    return jnp.where(as_column(paths.in_use, sums), sums, NEVER)


def as_column(values: Array, x: Float[Array, "n *rows"]) -> Array:
    """One value for each row of `x`, shaped so that it meets every column."""
    return values.reshape(-1, *(1,) * (x.ndim - 1))
