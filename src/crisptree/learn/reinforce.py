"""REINFORCE with a baseline (Eq. 6): one gradient step for each trajectory, on its returns."""

import jax
from jaxtyping import Array, Float

from crisptree.learn.config import ReinforceConfig
from crisptree.learn.ppo import (
    ActorCritic,
    actor_step,
    after_update,
    critic_step,
    episode_metrics,
    with_advantages,
)
from crisptree.learn.ppo import init as init
from crisptree.learn.trajectory import Trajectory


def update(
    state: ActorCritic, trajectory: Trajectory, config: ReinforceConfig
) -> tuple[ActorCritic, dict[str, Array]]:
    """The state after one update on `trajectory`, and what to log about it."""
    state, batch = with_advantages(state, trajectory, config, 1.0)
    rows = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), batch)
    state, about_actor = actor_step(state, rows, config, objective)
    state, about_critic = critic_step(state, rows, config)
    state = after_update(state, trajectory, config)
    return state, episode_metrics(trajectory, state) | about_actor | about_critic


def objective(
    log_probability: Float[Array, " rows"],
    before: Float[Array, " rows"],
    advantage: Float[Array, " rows"],
) -> Float[Array, " rows"]:
    """Eq. 6: the gradient of its mean is E[A_t ∇ log π(s_t, a_t)]."""
    return advantage * log_probability
