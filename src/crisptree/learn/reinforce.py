"""REINFORCE with a baseline (Eq. 6): one gradient step for each trajectory, on its returns."""

import equinox as eqx
import jax
from jaxtyping import Array, Bool, Float

from crisptree.learn.actor_critic import ActorCritic as ActorCritic
from crisptree.learn.actor_critic import (
    Batch,
    after_update,
    critic_step,
    episode_metrics,
    with_advantages,
)
from crisptree.learn.actor_critic import init as init
from crisptree.learn.config import ReinforceConfig
from crisptree.learn.optimizer import decayed, gradient_step
from crisptree.learn.schedule import interpolate
from crisptree.learn.trajectory import Trajectory, masked_mean, standardized


def update(
    state: ActorCritic, trajectory: Trajectory, config: ReinforceConfig
) -> tuple[ActorCritic, dict[str, Array]]:
    """The state after one update on `trajectory`, and what to log about it."""
    state, batch = with_advantages(state, trajectory, config, 1.0)
    rows = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), batch)
    state, about_actor = actor_step(state, rows, config)
    state, about_critic = critic_step(state, rows, config)
    state = after_update(state, trajectory, config)
    return state, episode_metrics(trajectory, state) | about_actor | about_critic


def actor_step(
    state: ActorCritic, batch: Batch, config: ReinforceConfig
) -> tuple[ActorCritic, dict[str, Array]]:
    """The state after one gradient step of its actor."""
    head, advantage = state.head, standardized(batch.advantage, batch.mask)
    entropy_coef = interpolate(config.entropy_coef, config.entropy_coef_end, state.progress)

    def loss(learned):
        actor, log_std = learned
        mixed = actor.mix(batch.observation.T, head.of_leaf).T
        distribution = head.distribution(mixed, log_std)
        log_probability = head.log_probability(distribution, batch.action)
        entropy = masked_mean(head.entropy(distribution), batch.mask)
        policy_loss = policy_gradient_loss(log_probability, advantage, batch.mask)
        return policy_loss - entropy_coef * entropy, {"entropy": entropy}

    learning_rate = decayed(config.learning_rate, config, state.progress)
    learned, optimizer, policy_loss, metrics = gradient_step(
        loss, (state.actor, state.log_std), state.actor_optimizer, config, learning_rate
    )
    state = eqx.tree_at(
        lambda s: (s.actor, s.log_std, s.actor_optimizer), state, (*learned, optimizer)
    )
    return state, {"policy_loss": policy_loss, **metrics}


def policy_gradient_loss(
    log_probability: Float[Array, " rows"],
    advantage: Float[Array, " rows"],
    mask: Bool[Array, " rows"],
) -> Float[Array, ""]:
    """Eq. 6: its gradient is -E[A_t ∇ log π(s_t, a_t)]."""
    return -masked_mean(advantage * log_probability, mask)
