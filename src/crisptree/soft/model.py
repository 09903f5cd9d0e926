"""What all soft models share: outputs for an observation, and trees that mix their leaves.

Features come first: a model takes one observation `(F,)`, or many as columns `(F, rows)`. What a
layer or a row of nodes gives then lies as the next product wants it; under `vmap` over seeds that
takes half of the time of `vmap` over single observations.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from crisptree.base.errors import CrisptreeError
from crisptree.soft.paths import Paths, leaf_log_probabilities

SMALLEST_PROBABILITY = 1e-30

LeafMap = Callable[[Any], Any]
"""From the outputs of leaves `(…, outputs)`, in JAX or NumPy, to what is mixed."""


def as_is(outputs: Any) -> Any:
    """The outputs themselves: values are mixed as they are (Eq. 13)."""
    return outputs


@runtime_checkable
class HasOutputs(Protocol):
    """A head, as far as a model needs to know it: how many numbers it reads."""

    @property
    def n_outputs(self) -> int: ...


def outputs_of(head: HasOutputs | int) -> tuple[int, HasOutputs | None]:
    """`(n_outputs, head)` of a head, or of a plain number of outputs."""
    return (head, None) if isinstance(head, int) else (head.n_outputs, head)


class Model(eqx.Module):
    """A differentiable map from standardised observations to outputs."""

    head: eqx.AbstractVar[HasOutputs | None]
    """What the outputs are read as; None where a learner is to decide."""

    @abstractmethod
    def mix(
        self, x: Float[Array, "features *rows"], of_leaf: LeafMap = as_is
    ) -> Float[Array, "outputs *rows"]:
        """Σ P(leaf) · of_leaf(outputs of the leaf); a model without leaves has one."""

    @property
    @abstractmethod
    def n_outputs(self) -> int: ...

    def q_values(self, x: Float[Array, "features *rows"]) -> Float[Array, "outputs *rows"]:
        """Eq. 13: Q(x, ·)."""
        return self.mix(x)

    def log_policy(self, x: Float[Array, "features *rows"]) -> Float[Array, "outputs *rows"]:
        """Eq. 14: log π(x, ·), where each leaf is a distribution, as logits."""
        return jnp.log(jnp.maximum(self.mix(x, jax.nn.softmax), SMALLEST_PROBABILITY))


class TreeModel(Model):
    """A tree whose leaves are mixed by the probability of their paths.

    A leaf holds one number for each output (a logit, a value, or the mean of an action). A linear
    leaf adds gains: its output is `leaves[l, o] + Σ_f gains[l, o, f] x_f`.
    """

    leaves: eqx.AbstractVar[Float[Array, "leaves outputs"]]
    gains: eqx.AbstractVar[Float[Array, "leaves outputs features"] | None]
    """None where leaves are constant."""
    kept_gains: eqx.AbstractVar[Bool[Array, "leaves outputs features"] | None]
    """Which gains count; the others are exactly zero."""
    max_gains: eqx.AbstractVar[int]
    """The most features that an output of a leaf looks at, once they are chosen; 0 where leaves
    are constant."""

    @abstractmethod
    def routing(self) -> Paths:
        """Which decisions lead to which leaf."""

    @abstractmethod
    def margins(self, x: Float[Array, "features *rows"]) -> Float[Array, "nodes *rows"]:
        """α(βᵀx - φ) of every node: positive where the node is TRUE."""

    @property
    def n_outputs(self) -> int:
        return self.leaves.shape[-1]

    def goes_true(self, x: Float[Array, "features *rows"]) -> Float[Array, "nodes *rows"]:
        """Eq. 4: μ(x) = 1 / (1 + exp(-α(βᵀx - φ)))."""
        return jax.nn.sigmoid(self.margins(x))

    def leaf_probabilities(self, x: Float[Array, "features *rows"]) -> Float[Array, "leaves *rows"]:
        """P(leaf): the product of the decisions on its path."""
        return jnp.exp(leaf_log_probabilities(self.margins(x), self.routing()))

    def mix(
        self, x: Float[Array, "features *rows"], of_leaf: LeafMap = as_is
    ) -> Float[Array, "outputs *rows"]:
        probabilities = self.leaf_probabilities(x)
        mixed = of_leaf(self.leaves).T @ probabilities
        if self.gains is None or self.kept_gains is None:
            return mixed
        by_leaf = jnp.tensordot(self.gains * self.kept_gains, x, 1)
        return mixed + (by_leaf * probabilities[:, None]).sum(0)


def choose_gains(tree: Any) -> Any:
    """The tree with only the `max_gains` largest gains of each output of each leaf kept.

    Gains that were dropped before stay dropped.
    """
    if tree.gains is None or tree.kept_gains is None:
        return tree
    size = jnp.where(tree.kept_gains, jnp.abs(tree.gains), -1.0)
    _, largest = jax.lax.top_k(size, tree.max_gains)
    chosen = jax.nn.one_hot(largest, size.shape[-1], dtype=bool).any(-2)
    return eqx.tree_at(lambda t: t.kept_gains, tree, chosen & tree.kept_gains)


def random_leaves(
    head: HasOutputs | int,
    n_leaves: int,
    n_features: int,
    max_gains: int,
    scale: float,
    key: Key[Array, ""],
) -> dict[str, Any]:
    """The fields of a tree's leaves: random values of a scale, and gains that are all zero and all
    kept, or none where leaves are constant."""
    if not 0 <= max_gains <= n_features:
        raise CrisptreeError(
            f"gains must be from 0 (constant leaves) to the {n_features} features, not {max_gains}"
        )
    n_outputs, read_as = outputs_of(head)
    shape = (n_leaves, n_outputs, n_features)
    return {
        "leaves": scale * jax.random.normal(key, shape[:2]),
        "gains": jnp.zeros(shape) if max_gains else None,
        "kept_gains": jnp.ones(shape, bool) if max_gains else None,
        "max_gains": max_gains,
        "head": read_as,
    }
