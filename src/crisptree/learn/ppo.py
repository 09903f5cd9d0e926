"""PPO (Schulman et al. 2017): several passes over a trajectory, with a clipped objective.

REINFORCE shares its state, its advantages and its critic.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from crisptree import soft
from crisptree.base.errors import CrisptreeError
from crisptree.learn.config import ActorCriticConfig, PPOConfig
from crisptree.learn.heads import Categorical, Gaussian, Head
from crisptree.learn.moments import Moments
from crisptree.learn.optimizer import decayed, fresh_optimizer, gradient_step
from crisptree.learn.schedule import Schedule, Scheduled, interpolate
from crisptree.learn.trajectory import (
    NEXT,
    SHUFFLE,
    Number,
    Trajectory,
    generalized_advantages,
    masked_mean,
    standardized,
)
from crisptree.soft import AxisTree, Model, TreeModel
from crisptree.soft.model import choose_gains


class ActorCritic(Scheduled):
    """The state of PPO and REINFORCE. Stacked along a first axis it is several seeds."""

    actor: Any
    average: Any
    """The mean of the actor over the last part of the training: noise in its steps cancels out."""
    log_std: Float[Array, "*seeds dims"]
    """Of a Gaussian head, in its units; empty for the others."""
    critic: soft.MLP
    actor_optimizer: Any
    critic_optimizer: Any
    observations: Moments
    returns: Moments
    schedule: Schedule
    key: Key[Array, "*seeds"]
    head: Head = eqx.field(static=True)

    @property
    def exploration(self) -> Float[Array, "*seeds dims"]:
        return self.log_std

    def distribution(self, observation: Float[Array, "rows F"]) -> Any:
        """Over actions, for each row of raw observations."""
        x = self.observations.standardize(observation).T
        return self.head.distribution(self.actor.mix(x, self.head.of_leaf).T, self.log_std)

    def values(self, observation: Float[Array, "rows F"]) -> Float[Array, " rows"]:
        return self.critic(self.observations.standardize(observation).T)[0]


class Batch(NamedTuple):
    """What a gradient step sees; observations are standardised."""

    observation: Float[Array, "*rows F"]
    action: Int[Array, "..."] | Float[Array, "..."]
    log_probability: Float[Array, "*rows"]
    advantage: Float[Array, "*rows"]
    target: Float[Array, "*rows"]
    """What the critic should have said."""
    mask: Bool[Array, "*rows"]


AVERAGED_FROM = 0.75
"""Progress from which on actors are averaged."""

Objective = Callable[[Array, Array, Array], Array]
"""What is gained in each row: of its log probability now, that when it was taken, its advantage."""


def init(
    actor: Model,
    n_features: int,
    config: ActorCriticConfig,
    n_updates: int | Int[Array, ""],
    *,
    key: Key[Array, ""],
    head: Head | None = None,
    critic: soft.MLP | None = None,
    observations: Moments | None = None,
) -> ActorCritic:
    """A fresh state; a critic and moments from earlier learning can be carried over.

    The head is the actor's own unless given; an actor without one chooses among as many actions as
    it has outputs.
    """
    head = head or head_of(actor)
    check_outputs(actor, head)
    for_critic, for_state = jax.random.split(key)
    if critic is None:
        critic = soft.critic(n_features, config.critic_width, key=for_critic)
    log_std = jnp.full(head.n_stds, config.log_std_start, jnp.float32)
    state = ActorCritic(
        actor=actor,
        average=actor,
        log_std=log_std,
        critic=critic,
        actor_optimizer=fresh_optimizer((actor, log_std), config),
        critic_optimizer=fresh_optimizer(critic, config),
        observations=Moments.empty((n_features,)) if observations is None else observations,
        returns=Moments.empty(()),
        schedule=Schedule.start(n_updates),
        key=for_state,
        head=head,
    )
    return annealed(state, config)


def head_of(actor: Model) -> Head:
    """The actor's own head, or one of as many actions as it has outputs."""
    return actor.head if isinstance(actor.head, Head) else Categorical(actor.n_outputs)


def check_outputs(actor: Model, head: Head) -> None:
    """Refuse an actor that does not fit the actions."""
    if actor.n_outputs != head.n_outputs:
        raise CrisptreeError(
            f"the actor has {actor.n_outputs} outputs; these actions need {head.n_outputs}"
        )
    if isinstance(actor, TreeModel) and actor.gains is not None and not isinstance(head, Gaussian):
        raise CrisptreeError("linear leaves are for Box actions; choices need constant leaves")


def update(
    state: ActorCritic, trajectory: Trajectory, config: PPOConfig
) -> tuple[ActorCritic, dict[str, Array]]:
    """The state after one update on `trajectory`, and what to log about it."""
    state, batch = with_advantages(state, trajectory, config, config.gae_lambda)

    def objective(log_probability: Array, before: Array, advantage: Array) -> Array:
        return clipped_objective(log_probability - before, advantage, config.clip_range)

    def step(state: ActorCritic, times: Int[Array, " size"]):
        minibatch = jax.tree.map(lambda x: x[times].reshape(-1, *x.shape[2:]), batch)
        state, about_actor = actor_step(state, minibatch, config, objective)
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


def with_advantages(
    state: ActorCritic, trajectory: Trajectory, config: ActorCriticConfig, gae_lambda: Number
) -> tuple[ActorCritic, Batch]:
    """The state with a fresh key, and advantages and value targets of every step `(T, R)`."""
    returns, reward = state.returns, trajectory.reward
    if config.normalize_rewards:
        returns = returns.with_batch(*trajectory.rows("discounted_return", "mask"))
        reward = reward / returns.deviation
    value, next_value = (
        state.values(rows).reshape(reward.shape)
        for rows in trajectory.rows("observation", "next_observation")
    )
    advantage = generalized_advantages(
        reward,
        value,
        next_value,
        trajectory.terminated,
        trajectory.done,
        config.discount,
        gae_lambda,
    )
    batch = Batch(
        observation=state.observations.standardize(trajectory.observation),
        action=trajectory.action,
        log_probability=trajectory.log_probability,
        advantage=advantage,
        target=advantage + value,
        mask=trajectory.mask,
    )
    key = jax.random.fold_in(state.key, NEXT)
    return eqx.tree_at(lambda s: (s.returns, s.key), state, (returns, key)), batch


def actor_step(
    state: ActorCritic, batch: Batch, config: ActorCriticConfig, objective: Objective
) -> tuple[ActorCritic, dict[str, Array]]:
    """The state after one gradient step of its actor towards more of `objective` and entropy."""
    head, advantage = state.head, standardized(batch.advantage, batch.mask)
    entropy_coef = interpolate(config.entropy_coef, config.entropy_coef_end, state.progress)

    def loss(learned):
        actor, log_std = learned
        mixed = actor.mix(batch.observation.T, head.of_leaf).T
        distribution = head.distribution(mixed, log_std)
        log_probability = head.log_probability(distribution, batch.action)
        gained = objective(log_probability, batch.log_probability, advantage)
        entropy = masked_mean(head.entropy(distribution), batch.mask)
        kl = masked_mean(batch.log_probability - log_probability, batch.mask)
        policy_loss = -masked_mean(gained, batch.mask) - entropy_coef * entropy
        return policy_loss, {"entropy": entropy, "kl": kl}

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


def critic_step(
    state: ActorCritic, batch: Batch, config: ActorCriticConfig
) -> tuple[ActorCritic, dict[str, Array]]:
    """The state after one gradient step of its critic, on squared errors."""

    def loss(critic):
        error = critic(batch.observation.T)[0] - batch.target
        return 0.5 * masked_mean(jnp.square(error), batch.mask), {}

    learning_rate = decayed(config.critic_learning_rate, config, state.progress)
    critic, optimizer, value_loss, _ = gradient_step(
        loss, state.critic, state.critic_optimizer, config, learning_rate
    )
    state = eqx.tree_at(lambda s: (s.critic, s.critic_optimizer), state, (critic, optimizer))
    return state, {"value_loss": value_loss}


def after_update(
    state: ActorCritic, trajectory: Trajectory, config: ActorCriticConfig
) -> ActorCritic:
    """The state after its gradient steps, one update older.

    The observations of this trajectory enter the moments only now, so that ratios of probabilities
    are taken under the standardisation that acted.
    """
    observations = state.observations
    if config.normalize_observations:
        observations = observations.with_batch(*trajectory.rows("observation", "mask"))
    schedule = state.schedule.after_update(
        trajectory.return_sum, trajectory.n_episodes, config.plateau_speedup, config.longest
    )
    average = _with_actor(state.average, state.actor, state.progress, schedule.fraction)
    state = eqx.tree_at(
        lambda s: (s.observations, s.schedule, s.average), state, (observations, schedule, average)
    )
    return annealed(state, config)


def _with_actor(average: Any, actor: Any, before: Float[Array, ""], now: Float[Array, ""]) -> Any:
    """The mean actor since `AVERAGED_FROM`, weighted by progress; until then, the actor itself."""
    since = jnp.maximum(now - AVERAGED_FROM, 1e-9)
    share = jnp.where(now > AVERAGED_FROM, jnp.clip((now - before) / since, 0.0, 1.0), 1.0)

    def mean(old: Any, new: Any) -> Any:
        return old + share * (new - old) if eqx.is_inexact_array(new) else new

    return jax.tree.map(mean, average, actor)


def annealed(state: ActorCritic, config: ActorCriticConfig) -> ActorCritic:
    """The state with the steepness, the deviation and the gains that its progress calls for."""
    fraction = jnp.minimum(state.progress / config.anneal_until, 1.0)
    most = interpolate(config.log_std_start, config.log_std_end, fraction)
    actor = state.actor
    if isinstance(actor, AxisTree) and config.steepness is not None:
        start, end = config.steepness
        steepness = start * (end / start) ** fraction
        actor = eqx.tree_at(lambda a: a.steepness, actor, steepness)
    if isinstance(actor, TreeModel) and actor.max_gains > 0:
        kept: Any = actor.kept_gains
        is_time = state.progress >= config.choose_gains_at
        kept = jnp.where(is_time, choose_gains(actor).kept_gains, kept)
        actor = eqx.tree_at(lambda a: a.kept_gains, actor, kept)
    return eqx.tree_at(
        lambda s: (s.actor, s.log_std), state, (actor, jnp.minimum(state.log_std, most))
    )


def episode_metrics(trajectory: Trajectory, state: Any) -> dict[str, Array]:
    """What to log about the episodes that ended, and how far the training is."""
    return {
        "return": trajectory.mean_return,
        "episodes": trajectory.n_episodes,
        "progress": state.progress,
    }
