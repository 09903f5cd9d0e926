"""The axis-aligned sibling of the soft tree: each node looks at one feature, for good."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from crisptree.soft.model import HasOutputs, TreeModel, random_leaves
from crisptree.soft.paths import Paths, as_column
from crisptree.soft.topology import Topology


class AxisTree(TreeModel):
    """μ(x) = sigmoid(k (x_j - φ)) with the feature j of each node fixed.

    Only comparators and leaves learn. The steepness k is one number, not learned but raised by a
    schedule while the tree trains: as k grows the tree becomes the crisp tree with the same
    comparators, so nothing is lost when it is read off.
    """

    features: Int[Array, " nodes"]
    comparators: Float[Array, " nodes"]
    steepness: Float[Array, ""]
    leaves: Float[Array, "leaves outputs"]
    paths: Paths
    gains: Float[Array, "leaves outputs features"] | None = None
    kept_gains: Bool[Array, "leaves outputs features"] | None = None
    max_gains: int = eqx.field(static=True, default=0)
    head: HasOutputs | None = eqx.field(static=True, default=None)
    sums: Float[Array, "features observed"] | None = None
    """How features follow from what is observed, where some are derived; not learned."""

    @staticmethod
    def random(
        topology: Topology,
        n_features: int,
        head: HasOutputs | int,
        *,
        key: Key[Array, ""],
        gains: int = 0,
    ) -> "AxisTree":
        """Random features, comparators around the middle of standardised features.

        `gains`: the most features that each output of a linear leaf looks at.
        """
        for_features, for_comparators, for_leaves = jax.random.split(key, 3)
        nodes = topology.n_nodes
        leaves = random_leaves(head, topology.n_leaves, n_features, gains, 0.3, for_leaves)
        return AxisTree(
            features=jax.random.randint(for_features, (nodes,), 0, n_features),
            comparators=0.5 * jax.random.normal(for_comparators, (nodes,)),
            steepness=jnp.asarray(2.0, jnp.float32),
            paths=Paths.of(topology),
            **leaves,
        )

    def routing(self) -> Paths:
        return self.paths

    @property
    def topology(self) -> Topology:
        """The shape of the tree; there may be room for more than it has."""
        return self.paths.topology

    def margins(self, x: Float[Array, "features *rows"]) -> Float[Array, "nodes *rows"]:
        # A product with one-hot rows is many times faster than a gather once vmapped on a CPU.
        n_features = len(x if self.sums is None else self.sums)
        chosen = jax.nn.one_hot(self.features, n_features, dtype=x.dtype)
        if self.sums is not None:
            chosen = chosen @ jax.lax.stop_gradient(self.sums)
        values = chosen @ x
        steepness = jax.lax.stop_gradient(self.steepness)
        return steepness * (values - as_column(self.comparators, values))
