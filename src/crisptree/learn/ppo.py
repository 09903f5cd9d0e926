"""PPO (Schulman et al. 2017): several passes over a trajectory, with a clipped objective."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from crisptree.learn.actor_critic import ActorCritic as ActorCritic
from crisptree.learn.actor_critic import (
    Batch,
    after_update,
    critic_step,
    episode_metrics,
    with_advantages,
)
from crisptree.learn.actor_critic import init as init
from crisptree.learn.config import PPOConfig
from crisptree.learn.optimizer import decayed, gradient_step
from crisptree.learn.schedule import interpolate
from crisptree.learn.trajectory import SHUFFLE, Number, Trajectory, masked_mean, standardized


def update(
    state: ActorCritic, trajectory: Trajectory, config: PPOConfig
) -> tuple[ActorCritic, dict[str, Array]]:
    """The state after one update on `trajectory`, and what to log about it."""
    state, batch = with_advantages(state, trajectory, config, config.gae_lambda)

    def step(state: ActorCritic, times: Int[Array, " size"]):
        minibatch = jax.tree.map(lambda x: x[times].reshape(-1, *x.shape[2:]), batch)
        state, about_actor = actor_step(state, minibatch, config)
        state, about_critic = critic_step(state, minibatch, config)
        return state, about_actor | about_critic

    state, metrics = jax.lax.scan(step, state, minibatch_times(state, config))
    state = after_update(state, trajectory, config)
    metrics = jax.tree.map(lambda m: m.mean(0), metrics)
    return state, episode_metrics(trajectory, state) | metrics


def minibatch_times(state: ActorCritic, config: PPOConfig) -> Int[Array, "steps size"]:
    """Which times of the trajectory each gradient step looks at.

    Whole time steps are shuffled, not single rows: a minibatch holds all environments at random
    times, and the copies are long and contiguous.
    """
    keys = jax.random.split(jax.random.fold_in(state.key, SHUFFLE), config.n_epochs)
    times = jax.vmap(lambda key: jax.random.permutation(key, config.n_steps))(keys)
    return times.reshape(config.n_epochs * config.n_minibatches, -1)


def actor_step(
    state: ActorCritic, batch: Batch, config: PPOConfig
) -> tuple[ActorCritic, dict[str, Array]]:
    """The state after one gradient step of its actor."""
    head, advantage = state.head, standardized(batch.advantage, batch.mask)
    entropy_coef = interpolate(config.entropy_coef, config.entropy_coef_end, state.progress)

    def loss(learned):
        actor, log_std = learned
        mixed = actor.mix(batch.observation.T, head.of_leaf).T
        distribution = head.distribution(mixed, log_std)
        log_probability = head.log_probability(distribution, batch.action)
        log_ratio = log_probability - batch.log_probability
        objective = clipped_objective(log_ratio, advantage, config.clip_range)
        entropy = masked_mean(head.entropy(distribution), batch.mask)
        metrics = {"entropy": entropy, "kl": masked_mean(-log_ratio, batch.mask)}
        return -masked_mean(objective, batch.mask) - entropy_coef * entropy, metrics

    learning_rate = decayed(config.learning_rate, config, state.progress)
    learned, optimizer, policy_loss, metrics = gradient_step(
        loss, (state.actor, state.log_std), state.actor_optimizer, config, learning_rate
    )
    state = eqx.tree_at(
        lambda s: (s.actor, s.log_std, s.actor_optimizer), state, (*learned, optimizer)
    )
    return state, {"policy_loss": policy_loss, **metrics}


def clipped_objective(
    log_ratio: Float[Array, " rows"], advantage: Float[Array, " rows"], clip_range: Number
) -> Float[Array, " rows"]:
    """min(r A, clip(r, 1 - ε, 1 + ε) A) with r = π / π_old."""
    ratio = jnp.exp(log_ratio)
    clipped = jnp.clip(ratio, 1 - clip_range, 1 + clip_range)
    return jnp.minimum(ratio * advantage, clipped * advantage)
