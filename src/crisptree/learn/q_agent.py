"""The agent that learns Q-values: a model, and all that learning carries along."""

from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key

from crisptree.learn.moments import Moments
from crisptree.learn.q_config import QLearning
from crisptree.learn.q_replay import Replay

NEVER = 1e-30
"""Stands for a probability of zero, whose logarithm no program would bear."""


@runtime_checkable
class QModel(Protocol):
    """Anything that gives values of actions for standardised observations, features first."""

    def q_values(self, x: Float[Array, "features *rows"]) -> Float[Array, "actions *rows"]: ...


class QAgent(eqx.Module):
    """A pytree; stacked along a first axis it is several seeds.

    `target` and `replay` are None where each transition is learned from once and at once.
    """

    actor: Any
    target: Any
    replay: Replay | None
    optimiser: Any
    observations: Moments
    returns: Moments
    epsilon: Float[Array, ""]
    round: Int[Array, ""]
    update: Int[Array, ""]
    n_updates: Int[Array, ""]
    key: Key[Array, ""]

    @property
    def progress(self) -> Float[Array, "*seeds"]:
        """Share of the training that is done, 0 to 1."""
        return jnp.minimum(self.update / self.n_updates, 1.0)

    def q_values(self, observation: Float[Array, "rows F"]) -> Float[Array, "rows A"]:
        return self.actor.q_values(self.observations.standardise(observation).T).T

    def log_policy(self, observation: Float[Array, "rows F"]) -> Float[Array, "rows A"]:
        """ε-greedy: (1 - ε) for the best action, and ε shared by all.

        A distribution like any other, so whatever samples from a policy can act for this agent.
        """
        q = self.q_values(observation)
        best = jax.nn.one_hot(q.argmax(-1), q.shape[-1])
        return jnp.log(jnp.maximum((1 - self.epsilon) * best + self.epsilon / q.shape[-1], NEVER))


def optimiser(config: QLearning) -> optax.GradientTransformation:
    """Directions only; the step size is applied by `agent.scheduled`."""
    scale = {
        "adam": optax.scale_by_adam(eps=1e-5),
        "rmsprop": optax.scale_by_rms(decay=0.99),
        "sgd": optax.identity(),
    }
    return optax.chain(optax.clip_by_global_norm(config.max_gradient_norm), scale[config.optimiser])


def create(
    actor: QModel,
    n_features: int,
    config: QLearning,
    n_updates: int,
    *,
    key: Key[Array, ""],
    n_agents: int = 1,
) -> QAgent:
    """A fresh agent, for environments of `n_agents`."""
    rows = config.n_envs * config.n_steps * n_agents
    replays = config.algorithm == "q"
    return QAgent(
        actor=actor,
        target=actor if replays else None,
        replay=Replay.empty(config.memory, rows, n_features) if replays else None,
        optimiser=optimiser(config).init(eqx.filter(actor, eqx.is_inexact_array)),
        observations=Moments.empty((n_features,)),
        returns=Moments.empty(()),
        epsilon=jnp.asarray(config.epsilon, jnp.float32),
        round=jnp.zeros((), jnp.int32),
        update=jnp.zeros((), jnp.int32),
        n_updates=jnp.asarray(n_updates, jnp.int32),
        key=key,
    )


def after_update(agent: QAgent, config: QLearning) -> QAgent:
    """The agent (or several, stacked) with an update counted, and the ε its progress calls for."""
    agent = eqx.tree_at(lambda a: a.update, agent, agent.update + 1)
    share = jnp.minimum(agent.progress / config.explore_until, 1.0)
    epsilon = config.epsilon + (config.epsilon_end - config.epsilon) * share
    return eqx.tree_at(lambda a: a.epsilon, agent, epsilon)
