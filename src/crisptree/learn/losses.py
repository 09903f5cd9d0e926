"""The objectives, as small pure functions of one minibatch of rows."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from crisptree.learn.rates import Number


def masked_mean(x: Float[Array, " rows"], mask: Bool[Array, " rows"]) -> Float[Array, ""]:
    return jnp.where(mask, x, 0.0).sum() / jnp.maximum(mask.sum(), 1)


def standardised(x: Float[Array, " rows"], mask: Bool[Array, " rows"]) -> Float[Array, " rows"]:
    mean = masked_mean(x, mask)
    return (x - mean) / (jnp.sqrt(masked_mean(jnp.square(x - mean), mask)) + 1e-8)


def clipped_surrogate(
    log_probability: Float[Array, " rows"],
    old_log_probability: Float[Array, " rows"],
    advantage: Float[Array, " rows"],
    mask: Bool[Array, " rows"],
    lowest: Number,
    highest: Number,
) -> Float[Array, ""]:
    """PPO (Schulman et al. 2017): -E min(r A, clip(r, 1 - ε, 1 + ε) A), r = π / π_old.

    `lowest` and `highest` are 1 - ε and 1 + ε.
    """
    ratio = jnp.exp(log_probability - old_log_probability)
    clipped = jnp.clip(ratio, lowest, highest)
    return -masked_mean(jnp.minimum(ratio * advantage, clipped * advantage), mask)


def policy_gradient(
    log_probability: Float[Array, " rows"],
    advantage: Float[Array, " rows"],
    mask: Bool[Array, " rows"],
) -> Float[Array, ""]:
    """REINFORCE (Eq. 6): its gradient is -E[A_t ∇ log π(s_t, a_t)]."""
    return -masked_mean(advantage * log_probability, mask)


def entropy(log_policy: Float[Array, "rows A"], mask: Bool[Array, " rows"]) -> Float[Array, ""]:
    return masked_mean(-(jnp.exp(log_policy) * log_policy).sum(-1), mask)


def squared_error(
    value: Float[Array, " rows"], target: Float[Array, " rows"], mask: Bool[Array, " rows"]
) -> Float[Array, ""]:
    return 0.5 * masked_mean(jnp.square(value - target), mask)
