"""Q-learning: a DQN with replay, target network and double Q, and the paper's online Q (Eq. 5)."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, Key

from crisptree.base.errors import CrisptreeError
from crisptree.learn.config import DQNConfig
from crisptree.learn.heads import Categorical, EpsilonGreedy, Head
from crisptree.learn.moments import Moments
from crisptree.learn.optimizer import decayed, fresh_optimizer, gradient_step
from crisptree.learn.ppo import check_outputs, episode_metrics, head_of
from crisptree.learn.replay import Replay, Transitions, transitions, with_moments
from crisptree.learn.schedule import Schedule, Scheduled, interpolate
from crisptree.learn.trajectory import SHUFFLE, Number, Trajectory, masked_mean
from crisptree.soft import Model


class QState(Scheduled):
    """The state of Q-learning. Stacked along a first axis it is several seeds.

    `target` and `replay` are None where each transition is learned from once (online_q).
    """

    actor: Any
    """Its outputs are the values of actions."""
    target: Any
    replay: Replay | None
    optimizer: Any
    observations: Moments
    returns: Moments
    epsilon: Float[Array, "*seeds 1"]
    n_transitions: Int[Array, "*seeds"]
    n_gradient_steps: Int[Array, "*seeds"]
    schedule: Schedule
    key: Key[Array, "*seeds"]
    head: EpsilonGreedy = eqx.field(static=True)

    @property
    def exploration(self) -> Float[Array, "*seeds 1"]:
        return self.epsilon

    def q_values(self, observation: Float[Array, "rows F"]) -> Float[Array, "rows A"]:
        return self.actor.mix(self.observations.standardize(observation).T).T

    def distribution(self, observation: Float[Array, "rows F"]) -> Float[Array, "rows A"]:
        """ε-greedy, for each row of raw observations."""
        return self.head.distribution(self.q_values(observation), self.epsilon)


def init(
    actor: Model,
    n_features: int,
    config: DQNConfig,
    n_updates: int,
    *,
    key: Key[Array, ""],
    head: Head | None = None,
    critic: None = None,
    observations: Moments | None = None,
) -> QState:
    """A fresh state. There is no critic: the actor itself learns values."""
    del critic
    head = head or head_of(actor)
    if not isinstance(head, Categorical):
        raise CrisptreeError("Q-learning needs Discrete actions; PPO learns the other kinds")
    check_outputs(actor, head)
    replays = config.algorithm == "dqn"
    zero = jnp.zeros((), jnp.int32)
    return QState(
        actor=actor,
        target=actor if replays else None,
        replay=Replay.empty(config.buffer_size, n_features, zero) if replays else None,
        optimizer=fresh_optimizer(actor, config),
        observations=Moments.empty((n_features,)) if observations is None else observations,
        returns=Moments.empty(()),
        epsilon=jnp.full(1, config.epsilon_start, jnp.float32),
        n_transitions=zero,
        n_gradient_steps=zero,
        schedule=Schedule.start(n_updates),
        key=key,
        head=EpsilonGreedy(actor.n_outputs),
    )


def update(
    state: QState, trajectory: Trajectory, config: DQNConfig
) -> tuple[QState, dict[str, Array]]:
    """The state after learning from `trajectory`, and what to log about it."""
    state = with_moments(state, trajectory, config)
    if config.algorithm == "dqn":
        state, metrics = _learn_from_replay(state, trajectory, config)
    else:
        state, metrics = _learn_in_order(state, trajectory, config)
    schedule = state.schedule.after_update(
        trajectory.return_sum, trajectory.n_episodes, config.plateau_speedup, config.longest
    )
    fraction = jnp.minimum(schedule.fraction / config.explore_until, 1.0)
    epsilon = interpolate(config.epsilon_start, config.epsilon_end, fraction)
    state = eqx.tree_at(lambda s: (s.schedule, s.epsilon), state, (schedule, jnp.full(1, epsilon)))
    metrics = jax.tree.map(lambda m: m.mean(0), metrics)
    return state, episode_metrics(trajectory, state) | metrics | {"epsilon": epsilon}


def _learn_from_replay(
    state: QState, trajectory: Trajectory, config: DQNConfig
) -> tuple[QState, dict[str, Array]]:
    """Gradient steps on transitions drawn from the replay buffer."""
    assert state.replay is not None
    replay = state.replay.with_transitions(transitions(trajectory))
    keys = jax.random.split(jax.random.fold_in(state.key, SHUFFLE), config.gradient_steps)
    # The buffer stays out of the loop, which would copy it at every step.
    state = _with_replay(state, None)

    def step(state: QState, key: Key[Array, ""]):
        return q_step(state, replay.sample(key, config.batch_size), config)

    state, metrics = jax.lax.scan(step, state, keys)
    return _with_replay(state, replay), metrics


def _with_replay(state: QState, replay: Replay | None) -> QState:
    is_replay = lambda part: part is None or isinstance(part, Replay)
    return eqx.tree_at(lambda s: s.replay, state, replay, is_leaf=is_replay)


def _learn_in_order(
    state: QState, trajectory: Trajectory, config: DQNConfig
) -> tuple[QState, dict[str, Array]]:
    """Eq. 5: one gradient step for each time, on what all environments met then."""
    steps = Transitions(*(getattr(trajectory, name) for name in Transitions._fields))
    return jax.lax.scan(lambda state, rows: q_step(state, rows, config), state, steps)


def q_step(state: QState, batch: Transitions, config: DQNConfig) -> tuple[QState, dict[str, Array]]:
    """One gradient step towards the targets of `batch`, once learning has started."""
    here, there = (
        state.observations.standardize(rows) for rows in (batch.observation, batch.next_observation)
    )
    reward = batch.reward / state.returns.deviation if config.normalize_rewards else batch.reward
    next_q = state.actor.mix(there.T).T
    if state.target is None:
        target = greedy_target(reward, batch.terminated, next_q, config.discount)
        penalty = optax.l2_loss
    else:
        next_target_q = state.target.mix(there.T).T
        target = double_target(reward, batch.terminated, next_q, next_target_q, config.discount)
        penalty = optax.huber_loss

    def loss(actor):
        q = of_action(actor.mix(here.T).T, batch.action)
        return masked_mean(penalty(q, target), batch.mask), {"q": masked_mean(q, batch.mask)}

    learning_rate = decayed(config.learning_rate, config, state.progress)
    actor, optimizer, value_loss, metrics = gradient_step(
        loss, state.actor, state.optimizer, config, learning_rate
    )
    started = state.n_transitions >= config.learning_starts
    learned = _where(started, (actor, optimizer), (state.actor, state.optimizer))
    n_steps = state.n_gradient_steps + started
    target = state.target
    if target is not None:
        target = _where(n_steps % config.target_update_interval == 0, learned[0], target)
    state = eqx.tree_at(
        lambda s: (s.actor, s.optimizer, s.n_gradient_steps, s.target),
        state,
        (*learned, n_steps, target),
        is_leaf=lambda part: part is None,
    )
    return state, {"value_loss": jnp.where(started, value_loss, 0.0), **metrics}


def of_action(q: Float[Array, "rows A"], action: Int[Array, " rows"]) -> Float[Array, " rows"]:
    """Q(s, a) of the action taken."""
    # A product with one-hot rows is many times faster than a gather once vmapped on a CPU.
    return (q * jax.nn.one_hot(action, q.shape[-1], dtype=q.dtype)).sum(-1)


def greedy_target(
    reward: Float[Array, " rows"],
    terminated: Bool[Array, " rows"],
    next_q: Float[Array, "rows A"],
    gamma: Number,
) -> Float[Array, " rows"]:
    """Eq. 5: R + γ max_a' Q(s', a'); a terminated row does not bootstrap, a truncated one does."""
    return reward + gamma * jnp.where(terminated, 0.0, next_q.max(-1))


def double_target(
    reward: Float[Array, " rows"],
    terminated: Bool[Array, " rows"],
    next_q: Float[Array, "rows A"],
    next_target_q: Float[Array, "rows A"],
    gamma: Number,
) -> Float[Array, " rows"]:
    """Double Q (van Hasselt et al. 2016): R + γ Q⁻(s', argmax_a' Q(s', a')).

    The learner chooses the action, the target network values it.
    """
    following = of_action(next_target_q, next_q.argmax(-1))
    return reward + gamma * jnp.where(terminated, 0.0, following)


def _where(condition: Bool[Array, ""], if_true: Any, if_false: Any) -> Any:
    """A choice between two models; under `vmap` a branch would compute both all the same."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), if_true, if_false)
