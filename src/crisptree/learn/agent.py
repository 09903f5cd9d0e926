"""The agent: an actor, its critic, and all that learning carries from one update to the next."""

from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key

from crisptree import soft
from crisptree.learn.config import Learning
from crisptree.learn.moments import Moments
from crisptree.learn.rates import Number, Rates


@runtime_checkable
class Actor(Protocol):
    """Anything that gives log-probabilities of actions for standardised observations.

    Features come first: one observation, or many side by side as columns.
    """

    def log_policy(self, x: Float[Array, "features *rows"]) -> Float[Array, "actions *rows"]: ...


@runtime_checkable
class Learner(Protocol):
    """What agents of all kinds have: a model that acts, its eyes, its clock and its dice."""

    @property
    def actor(self) -> Any: ...
    @property
    def observations(self) -> Moments: ...
    @property
    def update(self) -> Int[Array, "*seeds"]: ...
    @property
    def n_updates(self) -> Int[Array, "*seeds"]: ...
    @property
    def key(self) -> Key[Array, "*seeds"]: ...
    @property
    def progress(self) -> Float[Array, "*seeds"]: ...

    def log_policy(self, observation: Float[Array, "rows F"]) -> Float[Array, "rows A"]: ...


class Agent(eqx.Module):
    """A pytree; stacked along a first axis it is several seeds."""

    actor: Any
    critic: soft.MLP
    actor_optimiser: Any
    critic_optimiser: Any
    observations: Moments
    returns: Moments
    update: Int[Array, ""]
    n_updates: Int[Array, ""]
    key: Key[Array, ""]

    @property
    def progress(self) -> Float[Array, "*seeds"]:
        """Share of the training that is done, 0 to 1."""
        return jnp.minimum(self.update / self.n_updates, 1.0)

    def log_policy(self, observation: Float[Array, "rows F"]) -> Float[Array, "rows A"]:
        return self.actor.log_policy(self.observations.standardise(observation).T).T

    def values(self, observation: Float[Array, "rows F"]) -> Float[Array, " rows"]:
        return self.critic(self.observations.standardise(observation).T)[0]


def optimiser(config: Learning, max_gradient_norm: Number) -> optax.GradientTransformation:
    """Directions only; the step size is applied by `scheduled`."""
    scale = {"adam": optax.scale_by_adam(eps=1e-5), "rmsprop": optax.scale_by_rms(decay=0.99)}
    shorten: Any = optax.clip_by_global_norm  # takes traced numbers too, though it says float
    return optax.chain(shorten(max_gradient_norm), scale[config.optimiser])


def create(
    actor: Actor,
    n_features: int,
    config: Learning,
    n_updates: int,
    *,
    key: Key[Array, ""],
    critic: soft.MLP | None = None,
    observations: Moments | None = None,
) -> Agent:
    """A fresh agent; a critic and moments from earlier learning can be carried over."""
    for_critic, for_agent = jax.random.split(key)
    if critic is None:
        critic = soft.critic(n_features, config.critic_width, key=for_critic)
    optimise = optimiser(config, config.max_gradient_norm)
    return Agent(
        actor=actor,
        critic=critic,
        actor_optimiser=optimise.init(eqx.filter(actor, eqx.is_inexact_array)),
        critic_optimiser=optimise.init(eqx.filter(critic, eqx.is_inexact_array)),
        observations=Moments.empty((n_features,)) if observations is None else observations,
        returns=Moments.empty(()),
        update=jnp.zeros((), jnp.int32),
        n_updates=jnp.asarray(n_updates, jnp.int32),
        key=for_agent,
    )


def annealed(agent: Agent, rates: Rates) -> Agent:
    """The agent with the steepness its progress calls for (geometric, then constant)."""
    if rates.steepness is None:
        return agent
    share = jnp.minimum(agent.progress * rates.per_anneal, 1.0)
    steepness = rates.steepness * rates.steepening**share
    return eqx.tree_at(lambda a: a.actor.steepness, agent, steepness)


def scheduled(
    directions: Any, rate: Number, leaf_rate: Number | None, fall: Number, agent: Learner
) -> Any:
    """Step = -rate · direction; the rate falls linearly, by the share `fall` of it in the end.

    A tree's leaves have a rate of their own.
    """
    rate_now = rate * (1 - fall * agent.progress)
    steps = jax.tree.map(lambda d: -rate_now * d, directions)
    if leaf_rate is None or not hasattr(steps, "leaves"):
        return steps
    return eqx.tree_at(lambda s: s.leaves, steps, steps.leaves * leaf_rate)
