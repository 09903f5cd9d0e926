"""One update: from a rollout to a better agent."""

from typing import NamedTuple

import equinox as eqx
import jax
from jaxtyping import Array, Bool, Float, Int

from crisptree.learn import losses
from crisptree.learn.agent import Agent, annealed, optimiser, scheduled
from crisptree.learn.config import Learning
from crisptree.learn.rates import Rates
from crisptree.learn.rollout import Rollout, generalised_advantages


class Batch(NamedTuple):
    """What a gradient step sees; observations are standardised."""

    observation: Float[Array, "*rows F"]
    action: Int[Array, "*rows"]
    log_probability: Float[Array, "*rows"]
    advantage: Float[Array, "*rows"]
    target: Float[Array, "*rows"]
    mask: Bool[Array, "*rows"]


def improve(
    agent: Agent, rollout: Rollout, config: Learning, rates: Rates
) -> tuple[Agent, dict[str, Array]]:
    """The agent after one update on `rollout`, and what to log about it.

    The observations of this rollout enter the moments only afterwards, so that ratios of
    probabilities are taken under the standardisation that acted. All numbers are those of
    `rates`; `config` has the choices.
    """
    agent, batch = _valued(agent, rollout, config, rates)
    # Not `split`: its first key is `fold_in(key, 0)`, with which this rollout was drawn.
    agent = eqx.tree_at(lambda a: a.key, agent, jax.random.fold_in(agent.key, 3))
    if config.algorithm == "ppo":
        agent, metrics = _epochs(agent, batch, config, rates)
    else:
        agent, metrics = _gradient_step(agent, _flat(batch), config, rates)
    if config.normalise_observations:
        rows, mask = rollout.observation, rollout.mask
        moments = agent.observations.with_batch(rows.reshape(-1, rows.shape[-1]), mask.reshape(-1))
        agent = eqx.tree_at(lambda a: a.observations, agent, moments)
    agent = eqx.tree_at(lambda a: a.update, agent, agent.update + 1)
    return annealed(agent, rates), metrics


def _valued(agent: Agent, rollout: Rollout, config: Learning, rates: Rates) -> tuple[Agent, Batch]:
    """Advantages and value targets of every step."""
    reward = rollout.reward
    if config.normalise_rewards:
        returns = agent.returns.with_batch(
            rollout.running_return.reshape(-1), rollout.mask.reshape(-1)
        )
        agent = eqx.tree_at(lambda a: a.returns, agent, returns)
        reward = reward / returns.deviation
    value, next_value = (
        agent.values(rows.reshape(-1, rows.shape[-1])).reshape(reward.shape)
        for rows in (rollout.observation, rollout.next_observation)
    )
    advantage = generalised_advantages(
        reward, value, next_value, rollout.terminated, rollout.done, rates.gamma, rates.trace
    )
    return agent, Batch(
        observation=agent.observations.standardise(rollout.observation),
        action=rollout.action,
        log_probability=rollout.log_probability,
        advantage=advantage,
        target=advantage + value,
        mask=rollout.mask,
    )


def _flat(batch: Batch) -> Batch:
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), batch)


def _epochs(
    agent: Agent, batch: Batch, config: Learning, rates: Rates
) -> tuple[Agent, dict[str, Array]]:
    """Whole time steps are shuffled, not single rows: a minibatch holds all environments at
    random times, and the copies are long and contiguous."""
    n_steps = batch.action.shape[0]
    size = n_steps // config.minibatches

    def shuffled(key: Array) -> Int[Array, "minibatches size"]:
        return jax.random.permutation(key, n_steps).reshape(config.minibatches, size)

    keys = jax.random.split(jax.random.fold_in(agent.key, 1), config.epochs)
    times = jax.vmap(shuffled)(keys).reshape(-1, size)
    dynamic, static = eqx.partition(agent, eqx.is_array)

    def step(dynamic, when):
        minibatch = _flat(jax.tree.map(lambda x: x[when], batch))
        stepped, metrics = _gradient_step(eqx.combine(dynamic, static), minibatch, config, rates)
        return eqx.filter(stepped, eqx.is_array), metrics

    dynamic, metrics = jax.lax.scan(step, dynamic, times)
    return eqx.combine(dynamic, static), jax.tree.map(lambda m: m.mean(0), metrics)


def _gradient_step(
    agent: Agent, batch: Batch, config: Learning, rates: Rates
) -> tuple[Agent, dict[str, Array]]:
    advantage = losses.standardised(batch.advantage, batch.mask)
    bonus = rates.entropy + rates.entropy_change * agent.progress

    def actor_loss(actor):
        log_policy = actor.log_policy(batch.observation.T).T
        taken = jax.nn.one_hot(batch.action, log_policy.shape[-1], dtype=log_policy.dtype)
        log_probability = (log_policy * taken).sum(-1)
        if config.algorithm == "ppo":
            surrogate = losses.clipped_surrogate(
                log_probability,
                batch.log_probability,
                advantage,
                batch.mask,
                rates.lowest,
                rates.highest,
            )
        else:
            surrogate = losses.policy_gradient(log_probability, advantage, batch.mask)
        spread = losses.entropy(log_policy, batch.mask)
        moved = losses.masked_mean(batch.log_probability - log_probability, batch.mask)
        return surrogate - bonus * spread, {"entropy": spread, "kl": moved}

    def critic_loss(critic):
        value = critic(batch.observation.T)[0]
        return losses.squared_error(value, batch.target, batch.mask)

    (policy_loss, about), actor_gradient = eqx.filter_value_and_grad(actor_loss, has_aux=True)(
        agent.actor
    )
    value_loss, critic_gradient = eqx.filter_value_and_grad(critic_loss)(agent.critic)
    optimise = optimiser(config, rates.max_gradient_norm)
    actor_step, actor_optimiser = optimise.update(actor_gradient, agent.actor_optimiser)
    critic_step, critic_optimiser = optimise.update(critic_gradient, agent.critic_optimiser)
    actor_step = scheduled(actor_step, rates.actor, rates.leaves, rates.fall, agent)
    critic_step = scheduled(critic_step, rates.critic, None, rates.fall, agent)
    agent = eqx.tree_at(
        lambda a: (a.actor, a.critic, a.actor_optimiser, a.critic_optimiser),
        agent,
        (
            eqx.apply_updates(agent.actor, actor_step),
            eqx.apply_updates(agent.critic, critic_step),
            actor_optimiser,
            critic_optimiser,
        ),
    )
    return agent, {"policy_loss": policy_loss, "value_loss": value_loss, **about}
