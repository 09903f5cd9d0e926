"""Multilayer perceptrons: the paper's baseline policy, and the critic."""

from dataclasses import replace
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from crisptree.soft.model import HasOutputs, LeafMap, Model, as_is, outputs_of
from crisptree.soft.paths import as_column

Activation = Literal["relu", "tanh"]


class MLP(Model):
    """Affine maps with an activation between them; none after the last."""

    weights: tuple[Float[Array, "_ _"], ...]
    biases: tuple[Float[Array, " _"], ...]
    activation: Activation = eqx.field(static=True)
    head: HasOutputs | None = eqx.field(static=True, default=None)

    @staticmethod
    def random(
        sizes: tuple[int, ...],
        *,
        key: Key[Array, ""],
        activation: Activation = "relu",
        last_scale: float = 0.01,
    ) -> "MLP":
        """Orthogonal weights with gain √2, `last_scale` in the last layer, and no biases."""
        keys = jax.random.split(key, len(sizes) - 1)
        scales = [2**0.5] * (len(sizes) - 2) + [last_scale]
        weights = tuple(
            jax.nn.initializers.orthogonal(scale)(k, (n_out, n_in))
            for k, scale, n_in, n_out in zip(keys, scales, sizes[:-1], sizes[1:], strict=True)
        )
        biases = tuple(jnp.zeros(n) for n in sizes[1:])
        return MLP(weights=weights, biases=biases, activation=activation)

    @staticmethod
    def policy(
        n_features: int, hidden: tuple[int, ...], head: HasOutputs | int, *, key: Key[Array, ""]
    ) -> "MLP":
        """A policy with hidden tanh layers of these sizes, nearly undecided at first."""
        n_outputs, read_as = outputs_of(head)
        mlp = MLP.random((n_features, *hidden, n_outputs), key=key, activation="tanh")
        return replace(mlp, head=read_as)

    @property
    def n_outputs(self) -> int:
        return self.biases[-1].shape[-1]

    def __call__(self, x: Float[Array, "in *rows"]) -> Float[Array, "out *rows"]:
        activate = jax.nn.relu if self.activation == "relu" else jnp.tanh
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = weight @ x
            x = activate(x + as_column(bias, x))
        x = self.weights[-1] @ x
        return x + as_column(self.biases[-1], x)

    def mix(
        self, x: Float[Array, "features *rows"], of_leaf: LeafMap = as_is
    ) -> Float[Array, "outputs *rows"]:
        return jnp.moveaxis(of_leaf(jnp.moveaxis(self(x), 0, -1)), -1, 0)


def baseline(n_hidden: int, n_features: int, head: HasOutputs | int, *, key: Key[Array, ""]) -> MLP:
    """The paper's MLP: `n_hidden` hidden ReLU layers as wide as the input (0: a linear policy)."""
    n_outputs, read_as = outputs_of(head)
    mlp = MLP.random((n_features,) * (n_hidden + 1) + (n_outputs,), key=key)
    return replace(mlp, head=read_as)


def critic(n_features: int, width: int, *, key: Key[Array, ""]) -> MLP:
    """State values for PPO, apart from the actor: two tanh layers."""
    return MLP.random((n_features, width, width, 1), key=key, activation="tanh", last_scale=1.0)
