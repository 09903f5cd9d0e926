"""The differentiable decision tree of the paper (Eq. 4, 13, 14, 15)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from crisptree.soft.columns import beside
from crisptree.soft.paths import leaf_log_probabilities, mix_distributions
from crisptree.soft.topology import Topology


class SoftTree(eqx.Module):
    """β `weights`, φ `comparators`, α `steepness` per node, and leaves, over a topology.

    The same parameters serve as a policy, where each leaf is a distribution (as logits), or as a
    Q-function, where each leaf holds values.
    """

    weights: Float[Array, "nodes features"]
    comparators: Float[Array, " nodes"]
    steepness: Float[Array, " nodes"]
    leaves: Float[Array, "leaves actions"]
    topology: Topology = eqx.field(static=True)

    @staticmethod
    def random(
        topology: Topology, n_features: int, n_actions: int, *, key: Key[Array, ""]
    ) -> "SoftTree":
        """Random directions through the middle of standardised observations, nearly even leaves."""
        for_weights, for_comparators, for_leaves = jax.random.split(key, 3)
        nodes, leaves = topology.n_nodes, topology.n_leaves
        return SoftTree(
            weights=jax.random.normal(for_weights, (nodes, n_features)) / jnp.sqrt(n_features),
            comparators=0.1 * jax.random.normal(for_comparators, (nodes,)),
            steepness=jnp.ones(nodes),
            leaves=0.1 * jax.random.normal(for_leaves, (leaves, n_actions)),
            topology=topology,
        )

    def margins(self, x: Float[Array, "features *rows"]) -> Float[Array, "nodes *rows"]:
        """α(βᵀx - φ): positive where the node is TRUE."""
        weighed = self.weights @ x
        return beside(self.steepness, weighed) * (weighed - beside(self.comparators, weighed))

    def goes_true(self, x: Float[Array, "features *rows"]) -> Float[Array, "nodes *rows"]:
        """Eq. 4: μ(x) = 1 / (1 + exp(-α(βᵀx - φ)))."""
        return jax.nn.sigmoid(self.margins(x))

    def leaf_probabilities(self, x: Float[Array, "features *rows"]) -> Float[Array, "leaves *rows"]:
        return jnp.exp(leaf_log_probabilities(self.margins(x), self.topology))

    def log_policy(self, x: Float[Array, "features *rows"]) -> Float[Array, "actions *rows"]:
        """Eq. 14: log π(x, ·)."""
        return mix_distributions(
            leaf_log_probabilities(self.margins(x), self.topology), self.leaves
        )

    def q_values(self, x: Float[Array, "features *rows"]) -> Float[Array, "actions *rows"]:
        """Eq. 13: Q(x, ·)."""
        return self.leaves.T @ self.leaf_probabilities(x)
