"""What a policy met between two updates, and what it was worth."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

Number = float | Float[Array, ""]

COLLECT, SHUFFLE, RESET, NEXT = range(4)
"""What a learner's key is folded with: acting and stepping; minibatches and replays; fresh
environments; the next update's key. No two purposes draw the same random numbers."""


class Trajectory(NamedTuple):
    """T steps of R rows; a row is one environment, or one agent of a team's environment.

    `next_observation` is what the action led to, before any reset: the last observation of an
    episode is there, so a truncated episode can bootstrap. `done` cuts the row's time line
    (terminated, or truncated, or a step that only resets); `mask` is false where the row did not
    act (a dead agent, or a step that only resets).
    """

    observation: Float[Array, "T R F"]
    action: Int[Array, "T R *parts"] | Float[Array, "T R dims"]
    """As the head samples them, before they are brought into the environment's units."""
    log_probability: Float[Array, "T R"]
    reward: Float[Array, "T R"]
    discounted_return: Float[Array, "T R"]
    """The discounted sum of the episode's rewards so far."""
    next_observation: Float[Array, "T R F"]
    terminated: Bool[Array, "T R"]
    done: Bool[Array, "T R"]
    mask: Bool[Array, "T R"]
    return_sum: Float[Array, ""]
    """The returns of the episodes that ended, summed."""
    n_episodes: Float[Array, ""]
    """How many ended."""

    @property
    def mean_return(self) -> Float[Array, ""]:
        """NaN where no episode ended."""
        return self.return_sum / self.n_episodes

    def rows(self, *names: str) -> tuple[Any, ...]:
        """The parts named, all times in one: `(T·R, …)`."""
        parts = (getattr(self, name) for name in names)
        return tuple(part.reshape(-1, *part.shape[2:]) for part in parts)


def generalized_advantages(
    reward: Float[Array, "T R"],
    value: Float[Array, "T R"],
    next_value: Float[Array, "T R"],
    terminated: Bool[Array, "T R"],
    done: Bool[Array, "T R"],
    gamma: Number,
    gae_lambda: Number,
) -> Float[Array, "T R"]:
    """GAE (Schulman et al. 2016): A_t = δ_t + γλ A_{t+1}, δ_t = r_t + γ V(s_{t+1}) - V(s_t).

    V(s_{t+1}) is 0 where the episode terminated, and kept where it was truncated.
    """
    delta = reward + gamma * jnp.where(terminated, 0.0, next_value) - value
    decay = jnp.where(done, 0.0, gamma * gae_lambda)

    def backwards(advantage, at):
        delta_t, decay_t = at
        advantage = delta_t + decay_t * advantage
        return advantage, advantage

    _, advantages = jax.lax.scan(backwards, jnp.zeros_like(delta[0]), (delta, decay), reverse=True)
    return advantages


def masked_mean(x: Float[Array, "*rows"], mask: Bool[Array, "*rows"]) -> Float[Array, ""]:
    """The mean of the rows that acted; 0 if none did."""
    return jnp.where(mask, x, 0.0).sum() / jnp.maximum(mask.sum(), 1)


def standardized(x: Float[Array, "*rows"], mask: Bool[Array, "*rows"]) -> Float[Array, "*rows"]:
    """With mean 0 and deviation 1 over the rows that acted."""
    mean = masked_mean(x, mask)
    return (x - mean) / (jnp.sqrt(masked_mean(jnp.square(x - mean), mask)) + 1e-8)
