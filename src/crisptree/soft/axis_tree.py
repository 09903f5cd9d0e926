"""The axis-aligned sibling of the soft tree: one feature a node, for good."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from crisptree.soft.columns import beside
from crisptree.soft.paths import leaf_log_probabilities, mix_distributions
from crisptree.soft.topology import Topology


class AxisTree(eqx.Module):
    """μ(x) = sigmoid(k (x_j - φ)) with the feature j of each node fixed.

    Only comparators and leaves learn. The steepness k is one number, not learned but raised by a
    schedule while the tree trains: as k grows the tree becomes the crisp tree with the same
    comparators, so nothing is lost when it is read off.
    """

    features: Int[Array, " nodes"]
    comparators: Float[Array, " nodes"]
    steepness: Float[Array, ""]
    leaves: Float[Array, "leaves actions"]
    topology: Topology = eqx.field(static=True)

    @staticmethod
    def random(
        topology: Topology, n_features: int, n_actions: int, *, key: Key[Array, ""]
    ) -> "AxisTree":
        """A random feature at every node, comparators around the middle of normalised features."""
        for_features, for_comparators, for_leaves = jax.random.split(key, 3)
        nodes, leaves = topology.n_nodes, topology.n_leaves
        return AxisTree(
            features=jax.random.randint(for_features, (nodes,), 0, n_features),
            comparators=0.5 * jax.random.normal(for_comparators, (nodes,)),
            steepness=jnp.asarray(2.0, jnp.float32),
            leaves=0.3 * jax.random.normal(for_leaves, (leaves, n_actions)),
            topology=topology,
        )

    def margins(self, x: Float[Array, "features *rows"]) -> Float[Array, "nodes *rows"]:
        # A product with one-hot rows is many times faster than a gather once vmapped on a CPU.
        chosen = jax.nn.one_hot(self.features, x.shape[0], dtype=x.dtype)
        over = chosen @ x
        return jax.lax.stop_gradient(self.steepness) * (over - beside(self.comparators, over))

    def leaf_probabilities(self, x: Float[Array, "features *rows"]) -> Float[Array, "leaves *rows"]:
        return jnp.exp(leaf_log_probabilities(self.margins(x), self.topology))

    def log_policy(self, x: Float[Array, "features *rows"]) -> Float[Array, "actions *rows"]:
        """Eq. 14: log π(x, ·)."""
        return mix_distributions(
            leaf_log_probabilities(self.margins(x), self.topology), self.leaves
        )
