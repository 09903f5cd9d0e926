"""The differentiable decision tree of the paper (Eq. 4, 13, 14, 15)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from crisptree.soft.model import HasOutputs, TreeModel, random_leaves
from crisptree.soft.paths import Paths, as_column
from crisptree.soft.topology import Topology


class SoftTree(TreeModel):
    """β `weights`, φ `comparators`, α `steepness` per node, and leaves, over a topology.

    The same parameters serve as a policy, where each leaf is a distribution (as logits) or the
    mean of an action, or as a Q-function, where each leaf holds values.
    """

    weights: Float[Array, "nodes features"]
    comparators: Float[Array, " nodes"]
    steepness: Float[Array, " nodes"]
    leaves: Float[Array, "leaves outputs"]
    topology: Topology = eqx.field(static=True)
    gains: Float[Array, "leaves outputs features"] | None = None
    kept_gains: Bool[Array, "leaves outputs features"] | None = None
    max_gains: int = eqx.field(static=True, default=0)
    head: HasOutputs | None = eqx.field(static=True, default=None)

    @staticmethod
    def random(
        topology: Topology,
        n_features: int,
        head: HasOutputs | int,
        *,
        key: Key[Array, ""],
        gains: int = 0,
    ) -> "SoftTree":
        """Random directions through the middle of standardised observations, nearly even leaves.

        `gains`: the most features that each output of a linear leaf looks at.
        """
        for_weights, for_comparators, for_leaves = jax.random.split(key, 3)
        nodes = topology.n_nodes
        leaves = random_leaves(head, topology.n_leaves, n_features, gains, 0.1, for_leaves)
        return SoftTree(
            weights=jax.random.normal(for_weights, (nodes, n_features)) / jnp.sqrt(n_features),
            comparators=0.1 * jax.random.normal(for_comparators, (nodes,)),
            steepness=jnp.ones(nodes),
            topology=topology,
            **leaves,
        )

    def routing(self) -> Paths:
        return Paths.of(self.topology)

    def margins(self, x: Float[Array, "features *rows"]) -> Float[Array, "nodes *rows"]:
        weighed = self.weights @ x
        return as_column(self.steepness, weighed) * (weighed - as_column(self.comparators, weighed))
