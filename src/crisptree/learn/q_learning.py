"""Q-learning: a round of learning, and an update made of rounds."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from crisptree.envs.functional import FunctionalEnv
from crisptree.learn import q_targets
from crisptree.learn.agent import scheduled
from crisptree.learn.compiled import Scene, collect
from crisptree.learn.losses import masked_mean
from crisptree.learn.q_agent import QAgent, after_update, optimiser
from crisptree.learn.q_config import QLearning
from crisptree.learn.q_replay import Transitions, transitions
from crisptree.learn.rollout import Rollout


def improve(agent: QAgent, rollout: Rollout, config: QLearning) -> tuple[QAgent, dict[str, Array]]:
    """The agent after one round of learning, and what to log about it."""
    fresh = transitions(rollout)
    agent = _with_moments(agent, rollout, config)
    agent = eqx.tree_at(
        lambda a: (a.key, a.round),
        agent,
        # Not `split`: its first key is `fold_in(key, 0)`, with which this rollout was drawn.
        (jax.random.fold_in(agent.key, 3), agent.round + 1),
    )
    if agent.replay is None:
        return gradient_step(agent, fresh, config)
    agent = eqx.tree_at(lambda a: a.replay, agent, agent.replay.with_round(fresh))
    agent, metrics = _replayed(agent, config)
    return _synced(agent, config), metrics


def _with_moments(agent: QAgent, rollout: Rollout, config: QLearning) -> QAgent:
    mask = rollout.mask.reshape(-1)
    observations, returns = agent.observations, agent.returns
    if config.normalise_observations:
        rows = rollout.observation.reshape(-1, rollout.observation.shape[-1])
        observations = observations.with_batch(rows, mask)
    if config.normalise_rewards:
        returns = returns.with_batch(rollout.running_return.reshape(-1), mask)
    return eqx.tree_at(lambda a: (a.observations, a.returns), agent, (observations, returns))


def _replayed(agent: QAgent, config: QLearning) -> tuple[QAgent, dict[str, Array]]:
    """Gradient steps on rows of the replay, which itself stays out of the loop over them."""
    replay = agent.replay
    assert replay is not None
    keys = jax.random.split(jax.random.fold_in(agent.key, 1), config.gradient_steps)
    dynamic, static = eqx.partition(
        eqx.tree_at(lambda a: a.replay, agent, None, is_leaf=lambda x: x is replay), eqx.is_array
    )

    def step(dynamic, key: Key[Array, ""]):
        batch = replay.sample(key, config.batch)
        stepped, metrics = gradient_step(eqx.combine(dynamic, static), batch, config)
        return eqx.filter(stepped, eqx.is_array), metrics

    dynamic, metrics = jax.lax.scan(step, dynamic, keys)
    agent = eqx.tree_at(
        lambda a: a.replay, eqx.combine(dynamic, static), replay, is_leaf=lambda x: x is None
    )
    return agent, jax.tree.map(lambda m: m.mean(0), metrics)


def gradient_step(
    agent: QAgent, batch: Transitions, config: QLearning
) -> tuple[QAgent, dict[str, Array]]:
    """Eq. 5 on a batch (the mean over its rows), or the DQN's kin of it."""
    here, there = (
        agent.observations.standardise(rows) for rows in (batch.observation, batch.next_observation)
    )
    reward = batch.reward / agent.returns.deviation if config.normalise_rewards else batch.reward
    next_q = agent.actor.q_values(there.T).T
    if agent.target is None:
        penalty = q_targets.half_square
        target = q_targets.greedy_target(reward, batch.terminated, next_q, config.gamma)
    else:
        penalty = q_targets.huber
        next_target_q = agent.target.q_values(there.T).T
        target = q_targets.double_target(
            reward, batch.terminated, next_q, next_target_q, config.gamma
        )

    def loss(actor):
        q = q_targets.of_taken(actor.q_values(here.T).T, batch.action)
        return masked_mean(penalty(target - q), batch.mask), masked_mean(q, batch.mask)

    (value_loss, mean_q), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(agent.actor)
    directions, state = optimiser(config).update(gradient, agent.optimiser)
    fall = 1 - config.final_rate
    steps = scheduled(directions, config.learning_rate, config.leaf_rate, fall, agent)
    learned = (eqx.apply_updates(agent.actor, steps), state)
    warm = agent.round > config.warm_up
    actor, state = _where(warm, learned, (agent.actor, agent.optimiser))
    agent = eqx.tree_at(lambda a: (a.actor, a.optimiser), agent, (actor, state))
    # Before that the first rewards are divided by the deviation of next to nothing.
    value_loss = jnp.where(warm, value_loss, 0.0)
    return agent, {"value_loss": value_loss, "q": mean_q, "epsilon": agent.epsilon}


def _synced(agent: QAgent, config: QLearning) -> QAgent:
    """The target network becomes the learner's copy every `sync_every` rounds."""
    target = _where(agent.round % config.sync_every == 0, agent.actor, agent.target)
    return eqx.tree_at(lambda a: a.target, agent, target)


def _where(condition: Array, if_true, if_false):
    """A choice between two models; under `vmap` a branch would compute both all the same."""
    return jax.tree.map(
        lambda a, b: jnp.where(condition, a, b) if eqx.is_array(a) else a, if_true, if_false
    )


def update(
    agent: QAgent, scene: Scene, env: FunctionalEnv, config: QLearning, rates: None = None
) -> tuple[QAgent, Scene, dict[str, Array]]:
    """`rounds` rounds of acting in a functional environment and learning from it.

    Its numbers are all in `config`: `rates` is there to be called as PPO's `update` is.
    """
    dynamic, static = eqx.partition(agent, eqx.is_array)

    def one(carry, _):
        agent = eqx.combine(carry[0], static)
        scene, rollout, episodes = collect(agent, carry[1], env, config, config.gamma)
        agent, metrics = improve(agent, rollout, config)
        return (eqx.filter(agent, eqx.is_array), scene), (episodes, metrics)

    (dynamic, scene), (episodes, metrics) = jax.lax.scan(
        one, (dynamic, scene), length=config.rounds
    )
    count = episodes.count.sum()
    return (
        after_update(eqx.combine(dynamic, static), config),
        scene,
        {
            "return": episodes.total_return.sum() / count,
            "episodes": count,
            **jax.tree.map(lambda m: m.mean(0), metrics),
        },
    )
