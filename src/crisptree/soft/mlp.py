"""Multilayer perceptrons: the paper's baseline policy, and the critic."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from crisptree.soft.columns import beside

ACTIVATIONS = {"relu": jax.nn.relu, "tanh": jnp.tanh}


class MLP(eqx.Module):
    """Affine maps with an activation between them; none after the last."""

    weights: tuple[Float[Array, "_ _"], ...]
    biases: tuple[Float[Array, " _"], ...]
    activation: Literal["relu", "tanh"] = eqx.field(static=True)

    @staticmethod
    def random(
        sizes: tuple[int, ...],
        *,
        key: Key[Array, ""],
        activation: Literal["relu", "tanh"] = "relu",
        last_scale: float = 0.01,
    ) -> "MLP":
        """Orthogonal weights with gain √2, `last_scale` in the last layer, and no biases."""
        keys = jax.random.split(key, len(sizes) - 1)
        gains = [jnp.sqrt(2.0)] * (len(sizes) - 2) + [last_scale]
        weights = tuple(
            gain * orthogonal((n_out, n_in), key=k)
            for k, gain, n_in, n_out in zip(keys, gains, sizes[:-1], sizes[1:], strict=True)
        )
        return MLP(weights, tuple(jnp.zeros(n) for n in sizes[1:]), activation)

    def __call__(self, x: Float[Array, "in *rows"]) -> Float[Array, "out *rows"]:
        activate = ACTIVATIONS[self.activation]
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = weight @ x
            x = activate(x + beside(bias, x))
        x = self.weights[-1] @ x
        return x + beside(self.biases[-1], x)

    def log_policy(self, x: Float[Array, "features *rows"]) -> Float[Array, "actions *rows"]:
        return jax.nn.log_softmax(self(x), axis=0)

    def q_values(self, x: Float[Array, "features *rows"]) -> Float[Array, "actions *rows"]:
        return self(x)


def orthogonal(shape: tuple[int, int], *, key: Key[Array, ""]) -> Float[Array, "_ _"]:
    """A random matrix with orthonormal rows or columns, whichever are fewer; all such matrices
    are equally likely.

    By Gram and Schmidt, twice over, for full accuracy: LAPACK's QR would have SciPy imported,
    which takes a quarter of a second.
    """
    drawn = jax.random.normal(key, (max(shape), min(shape)))

    def with_column(i, found):
        rest = drawn[:, i]
        for _ in range(2):
            rest = rest - found @ (found.T @ rest)
        return found.at[:, i].set(rest / jnp.linalg.norm(rest))

    found = jax.lax.fori_loop(0, min(shape), with_column, jnp.zeros_like(drawn))
    return found if shape[0] >= shape[1] else found.T


def baseline(n_hidden: int, n_features: int, n_actions: int, *, key: Key[Array, ""]) -> MLP:
    """The paper's MLP: `n_hidden` hidden ReLU layers as wide as the input (0: a linear policy)."""
    sizes = (n_features,) * (n_hidden + 1) + (n_actions,)
    return MLP.random(sizes, key=key)


def critic(n_features: int, width: int, *, key: Key[Array, ""]) -> MLP:
    """State values for PPO, apart from the actor: two tanh layers."""
    return MLP.random((n_features, width, width, 1), key=key, activation="tanh", last_scale=1.0)
