"""One update: from a rollout to a better agent."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
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

    All numbers are those of `rates`; `config` has the choices.
    """
    agent, batch, times = prepared(agent, rollout, rates, config=config)
    dynamic, static = eqx.partition(agent, eqx.is_array)

    def step(dynamic, when):
        at, minibatch = eqx.combine(dynamic, static), minibatch_of(batch, when)
        acting, about_actor = actor_step(at, minibatch, config, rates)
        judging, about_critic = critic_step(at, minibatch, config, rates)
        stepped = CRITIC.put(ACTOR.put(at, acting), judging)
        return eqx.filter(stepped, eqx.is_array), about_actor | about_critic

    dynamic, metrics = jax.lax.scan(step, dynamic, times)
    metrics = jax.tree.map(lambda m: m.mean(0), metrics)
    return finished(eqx.combine(dynamic, static), rollout, rates, config=config), metrics


def prepared(
    agent: Agent, rollout: Rollout, rates: Rates, *, config: Learning
) -> tuple[Agent, Batch, Int[Array, "minibatches size"]]:
    """The agent with fresh dice, what its gradient steps see, and at which times each looks.

    Whole time steps are shuffled, not single rows: a minibatch holds all environments at random
    times, and the copies are long and contiguous.
    """
    agent, batch = _valued(agent, rollout, config, rates)
    # Not `split`: its first key is `fold_in(key, 0)`, with which this rollout was drawn.
    agent = eqx.tree_at(lambda a: a.key, agent, jax.random.fold_in(agent.key, 3))
    n_steps = batch.action.shape[0]
    if config.algorithm == "reinforce":
        return agent, batch, jnp.arange(n_steps)[None]
    size = n_steps // config.minibatches

    def shuffled(key: Array) -> Int[Array, "minibatches size"]:
        return jax.random.permutation(key, n_steps).reshape(config.minibatches, size)

    keys = jax.random.split(jax.random.fold_in(agent.key, 1), config.epochs)
    return agent, batch, jax.vmap(shuffled)(keys).reshape(-1, size)


def finished(agent: Agent, rollout: Rollout, rates: Rates, *, config: Learning) -> Agent:
    """The agent after its gradient steps, an update older.

    The observations of this rollout enter the moments only now, so that ratios of probabilities
    are taken under the standardisation that acted.
    """
    if config.normalise_observations:
        rows, mask = rollout.observation, rollout.mask
        moments = agent.observations.with_batch(rows.reshape(-1, rows.shape[-1]), mask.reshape(-1))
        agent = eqx.tree_at(lambda a: a.observations, agent, moments)
    agent = eqx.tree_at(lambda a: a.update, agent, agent.update + 1)
    return annealed(agent, rates)


def minibatch_of(batch: Batch, when: Int[Array, " size"]) -> Batch:
    """All rows at these times."""
    return jax.tree.map(lambda x: x[when].reshape(-1, *x.shape[2:]), batch)


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


def actor_step(
    agent: Agent, batch: Batch, config: Learning, rates: Rates
) -> tuple[tuple[Any, Any], dict[str, Array]]:
    """The actor and its optimiser after one gradient step: the critic has no part in it."""
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

    (policy_loss, about), gradient = eqx.filter_value_and_grad(actor_loss, has_aux=True)(
        agent.actor
    )
    optimise = optimiser(config, rates.max_gradient_norm)
    direction, state = optimise.update(gradient, agent.actor_optimiser)
    step = scheduled(direction, rates.actor, rates.leaves, rates.fall, agent)
    return (eqx.apply_updates(agent.actor, step), state), {"policy_loss": policy_loss, **about}


def critic_step(
    agent: Agent, batch: Batch, config: Learning, rates: Rates
) -> tuple[tuple[Any, Any], dict[str, Array]]:
    """The critic and its optimiser after one gradient step: the actor has no part in it."""

    def critic_loss(critic):
        value = critic(batch.observation.T)[0]
        return losses.squared_error(value, batch.target, batch.mask)

    value_loss, gradient = eqx.filter_value_and_grad(critic_loss)(agent.critic)
    optimise = optimiser(config, rates.max_gradient_norm)
    direction, state = optimise.update(gradient, agent.critic_optimiser)
    step = scheduled(direction, rates.critic, None, rates.fall, agent)
    return (eqx.apply_updates(agent.critic, step), state), {"value_loss": value_loss}


class Half(NamedTuple):
    """One of the two in an agent that learn, neither of which needs the other for it."""

    names: tuple[str, str]
    """The model and the state of its optimiser."""
    step: Callable[[Agent, Batch, Learning, Rates], tuple[tuple[Any, Any], dict[str, Array]]]

    def of(self, agent: Agent) -> tuple[Any, Any]:
        model, state = self.names
        return getattr(agent, model), getattr(agent, state)

    def put(self, agent: Agent, found: tuple[Any, Any]) -> Agent:
        return eqx.tree_at(self.of, agent, found)


ACTOR = Half(("actor", "actor_optimiser"), actor_step)
CRITIC = Half(("critic", "critic_optimiser"), critic_step)


def steps_of(
    half: Half,
    agent: Agent,
    batch: Batch,
    times: Int[Array, "minibatches size"],
    rates: Rates,
    *,
    config: Learning,
) -> tuple[tuple[Any, Any], dict[str, Array]]:
    """All gradient steps of one half."""
    dynamic, static = eqx.partition(half.of(agent), eqx.is_array)

    def step(dynamic, when):
        at = half.put(agent, eqx.combine(dynamic, static))
        found, metrics = half.step(at, minibatch_of(batch, when), config, rates)
        return eqx.filter(found, eqx.is_array), metrics

    dynamic, metrics = jax.lax.scan(step, dynamic, times)
    return eqx.combine(dynamic, static), jax.tree.map(lambda m: m.mean(0), metrics)
