"""SAC (Haarnoja et al. 2018): real actions learned from replayed experience, entropy included.

An off-policy learner needs fewer steps of the environment than PPO and more gradient steps: a
teacher for tasks where steps are dear. Its actor is a network with a `SquashedGaussian` head.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from crisptree.base.errors import CrisptreeError
from crisptree.learn.config import SACConfig
from crisptree.learn.heads import Gaussian, Head, SquashedGaussian
from crisptree.learn.moments import Moments
from crisptree.learn.optimizer import decayed, fresh_optimizer, gradient_step
from crisptree.learn.ppo import check_outputs, episode_metrics
from crisptree.learn.replay import Replay, Transitions, transitions, with_moments
from crisptree.learn.schedule import Schedule, Scheduled
from crisptree.learn.trajectory import SHUFFLE, Trajectory, masked_mean
from crisptree.soft import MLP, Model


class SACState(Scheduled):
    """The state of SAC. Stacked along a first axis it is several seeds."""

    actor: Any
    critics: tuple[MLP, MLP]
    targets: tuple[MLP, MLP]
    """They follow the critics slowly."""
    log_temperature: Float[Array, "*seeds"]
    """Of the weight of the entropy."""
    replay: Replay
    actor_optimizer: Any
    critic_optimizer: Any
    temperature_optimizer: Any
    observations: Moments
    returns: Moments
    n_transitions: Int[Array, "*seeds"]
    schedule: Schedule
    key: Key[Array, "*seeds"]
    head: SquashedGaussian = eqx.field(static=True)

    @property
    def exploration(self) -> Float[Array, "*seeds 0"]:
        """Nothing: the deviation is the actor's own."""
        return jnp.zeros((*self.schedule.update.shape, 0))

    def distribution(self, observation: Float[Array, "rows F"]) -> Any:
        """Over actions, for each row of raw observations."""
        return self.policy(self.actor, self.observations.standardize(observation))

    def policy(self, actor: Model, x: Float[Array, "rows F"]) -> Any:
        """The distribution of an actor over actions, for standardised observations."""
        return self.head.distribution(actor.mix(x.T, self.head.of_leaf).T, None)


def init(
    actor: Model,
    n_features: int,
    config: SACConfig,
    n_updates: int,
    *,
    key: Key[Array, ""],
    head: Head | None = None,
    critic: None = None,
    observations: Moments | None = None,
) -> SACState:
    """A fresh state. The critics, of states and actions, are SAC's own."""
    del critic
    head = head or actor.head  # pyright: ignore[reportAssignmentType]
    if not isinstance(head, SquashedGaussian):
        raise CrisptreeError("SAC needs Box actions and an actor with a SquashedGaussian head")
    check_outputs(actor, head)
    n_actions = len(head.low)
    *for_critics, for_state = jax.random.split(key, 3)
    sizes = (n_features + n_actions, config.critic_width, config.critic_width, 1)
    critics = (MLP.random(sizes, key=for_critics[0]), MLP.random(sizes, key=for_critics[1]))
    log_temperature = jnp.log(jnp.asarray(config.temperature_start, jnp.float32))
    return SACState(
        actor=actor,
        critics=critics,
        targets=critics,
        log_temperature=log_temperature,
        replay=Replay.empty(config.buffer_size, n_features, jnp.zeros(n_actions)),
        actor_optimizer=fresh_optimizer(actor, config),
        critic_optimizer=fresh_optimizer(critics, config),
        temperature_optimizer=fresh_optimizer(log_temperature, config),
        observations=Moments.empty((n_features,)) if observations is None else observations,
        returns=Moments.empty(()),
        n_transitions=jnp.zeros((), jnp.int32),
        schedule=Schedule.start(n_updates),
        key=for_state,
        head=head,
    )


def squashed(head: Gaussian) -> SquashedGaussian:
    """The head that SAC's actors have, for the same bounds."""
    return SquashedGaussian(head.low, head.high)


def update(
    state: SACState, trajectory: Trajectory, config: SACConfig
) -> tuple[SACState, dict[str, Array]]:
    """The state after learning from `trajectory`, and what to log about it."""
    state = with_moments(state, trajectory, config)
    replay = state.replay.with_transitions(transitions(trajectory))
    # The buffer stays out of the loop, which would copy it at every step.
    empty = Replay.empty(1, state.observations.mean.shape[-1], replay.rows.action[0])
    state = eqx.tree_at(lambda s: s.replay, state, empty)

    def step(state: SACState, key: Key[Array, ""]):
        for_batch, for_step = jax.random.split(key)
        learned, metrics = sac_step(
            state, replay.sample(for_batch, config.batch_size), config, for_step
        )
        started = state.n_transitions >= config.learning_starts
        kept = jax.tree.map(lambda new, old: jnp.where(started, new, old), learned, state)
        return kept, {name: jnp.where(started, value, 0.0) for name, value in metrics.items()}

    keys = jax.random.split(jax.random.fold_in(state.key, SHUFFLE), config.gradient_steps)
    state, metrics = jax.lax.scan(step, state, keys)
    schedule = state.schedule.after_update(
        trajectory.return_sum, trajectory.n_episodes, config.plateau_speedup, config.longest
    )
    state = eqx.tree_at(lambda s: (s.schedule, s.replay), state, (schedule, replay))
    metrics = jax.tree.map(lambda m: m.mean(0), metrics)
    return state, episode_metrics(trajectory, state) | metrics


def sac_step(
    state: SACState, batch: Transitions, config: SACConfig, key: Key[Array, ""]
) -> tuple[SACState, dict[str, Array]]:
    """One gradient step of the critics, of the actor and of the temperature."""
    for_next, for_actor = jax.random.split(key)
    state, value_loss = critic_step(state, batch, config, for_next)
    state, policy_loss, entropy = actor_step(state, batch, config, for_actor)
    state = temperature_step(state, entropy, config)
    targets = jax.tree.map(
        lambda target, critic: target + config.tau * (critic - target), state.targets, state.critics
    )
    state = eqx.tree_at(lambda s: s.targets, state, targets)
    metrics = {"value_loss": value_loss, "policy_loss": policy_loss, "entropy": entropy}
    return state, metrics | {"temperature": jnp.exp(state.log_temperature)}


def critic_step(
    state: SACState, batch: Transitions, config: SACConfig, key: Key[Array, ""]
) -> tuple[SACState, Float[Array, ""]]:
    """Both critics come nearer to r + γ (min Q⁻(s', a') - α log π(a' | s')), a' ~ π(s')."""
    here, there = (
        state.observations.standardize(rows) for rows in (batch.observation, batch.next_observation)
    )
    reward = batch.reward / state.returns.deviation if config.normalize_rewards else batch.reward
    next_action, log_probability = _sampled(state, state.actor, there, key)
    soft_value = lowest_q(state.targets, there, next_action) - (
        jnp.exp(state.log_temperature) * log_probability
    )
    target = reward + config.discount * jnp.where(batch.terminated, 0.0, soft_value)

    def loss(critics):
        said = jnp.stack([q_of(critic, here, batch.action) for critic in critics])
        return 0.5 * masked_mean(jnp.square(said - target).sum(0), batch.mask), {}

    learning_rate = decayed(config.critic_learning_rate, config, state.progress)
    critics, optimizer, value_loss, _ = gradient_step(
        loss, state.critics, state.critic_optimizer, config, learning_rate
    )
    state = eqx.tree_at(lambda s: (s.critics, s.critic_optimizer), state, (critics, optimizer))
    return state, value_loss


def actor_step(
    state: SACState, batch: Transitions, config: SACConfig, key: Key[Array, ""]
) -> tuple[SACState, Float[Array, ""], Float[Array, ""]]:
    """The actor goes down α log π(a | s) - min Q(s, a), a ~ π(s); its entropy is returned too."""
    x = state.observations.standardize(batch.observation)
    temperature = jnp.exp(state.log_temperature)

    def loss(actor):
        action, log_probability = _sampled(state, actor, x, key)
        worth = lowest_q(state.critics, x, action)
        entropy = -masked_mean(log_probability, batch.mask)
        return -masked_mean(worth, batch.mask) - temperature * entropy, {"entropy": entropy}

    learning_rate = decayed(config.learning_rate, config, state.progress)
    actor, optimizer, policy_loss, metrics = gradient_step(
        loss, state.actor, state.actor_optimizer, config, learning_rate
    )
    state = eqx.tree_at(lambda s: (s.actor, s.actor_optimizer), state, (actor, optimizer))
    return state, policy_loss, metrics["entropy"]


def temperature_step(state: SACState, entropy: Float[Array, ""], config: SACConfig) -> SACState:
    """The temperature rises while the entropy is below its target, and falls while it is above."""
    gap = entropy - config.target_entropy * len(state.head.low)
    learning_rate = decayed(config.learning_rate, config, state.progress)
    log_temperature, optimizer, _, _ = gradient_step(
        lambda log_temperature: (log_temperature * jax.lax.stop_gradient(gap), {}),
        state.log_temperature,
        state.temperature_optimizer,
        config,
        learning_rate,
    )
    return eqx.tree_at(
        lambda s: (s.log_temperature, s.temperature_optimizer), state, (log_temperature, optimizer)
    )


def q_of(
    critic: MLP, x: Float[Array, "rows F"], action: Float[Array, "rows dims"]
) -> Float[Array, " rows"]:
    """Q(s, a)."""
    return critic(jnp.concatenate([x, action], -1).T)[0]


def lowest_q(
    critics: tuple[MLP, MLP], x: Float[Array, "rows F"], action: Float[Array, "rows dims"]
) -> Float[Array, " rows"]:
    """The lesser of what two critics say."""
    return jnp.minimum(*(q_of(critic, x, action) for critic in critics))


def _sampled(
    state: SACState, actor: Model, x: Float[Array, "rows F"], key: Key[Array, ""]
) -> tuple[Float[Array, "rows dims"], Float[Array, " rows"]]:
    """Actions of an actor, and their log-probabilities."""
    noise = state.head.noise(key, (len(x),))
    return state.head.sample_with_log_probability(state.policy(actor, x), noise)
