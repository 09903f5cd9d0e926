"""What an agent lived through between two updates, and what it was worth."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from crisptree.learn.rates import Number


class Rollout(NamedTuple):
    """T steps of R rows; a row is one agent of one environment.

    `next_observation` is what the action led to, before any reset: the last observation of an
    episode is there, so a truncated episode can bootstrap. `done` cuts the row's time line
    (terminated, or truncated, or a step that only resets); `mask` is false where the row did not
    act (a dead agent, or a step that only resets).
    """

    observation: Float[Array, "T R F"]
    action: Int[Array, "T R"]
    log_probability: Float[Array, "T R"]
    reward: Float[Array, "T R"]
    running_return: Float[Array, "T R"]
    next_observation: Float[Array, "T R F"]
    terminated: Bool[Array, "T R"]
    done: Bool[Array, "T R"]
    mask: Bool[Array, "T R"]


class Episodes(NamedTuple):
    """Totals over the episodes that ended in a rollout."""

    total_return: Float[Array, ""]
    count: Float[Array, ""]


def generalised_advantages(
    reward: Float[Array, "T R"],
    value: Float[Array, "T R"],
    next_value: Float[Array, "T R"],
    terminated: Bool[Array, "T R"],
    done: Bool[Array, "T R"],
    gamma: Number,
    trace: Number,
) -> Float[Array, "T R"]:
    """GAE (Schulman et al. 2016): A_t = δ_t + γλ A_{t+1}, δ_t = r_t + γ V(s_{t+1}) - V(s_t).

    `trace` is γλ.

    V(s_{t+1}) is 0 where the episode terminated, and kept where it was truncated.
    """
    delta = reward + gamma * jnp.where(terminated, 0.0, next_value) - value
    decay = jnp.where(done, 0.0, trace)

    def backwards(advantage, at):
        delta_t, decay_t = at
        advantage = delta_t + decay_t * advantage
        return advantage, advantage

    _, advantages = jax.lax.scan(backwards, jnp.zeros_like(delta[0]), (delta, decay), reverse=True)
    return advantages


def sample_actions(
    log_policy: Float[Array, "R A"], uniform: Float[Array, " R"]
) -> tuple[Int[Array, " R"], Float[Array, " R"]]:
    """Actions by inversion of the cumulative distribution, with their log-probabilities."""
    cumulative = jnp.cumsum(jnp.exp(log_policy), axis=-1)
    # Scaled by the sum, which rounding may leave short of 1, no uniform can fall beyond it.
    action = (cumulative <= uniform[:, None] * cumulative[:, -1:]).sum(-1)
    return action, jnp.take_along_axis(log_policy, action[:, None], axis=-1)[:, 0]
