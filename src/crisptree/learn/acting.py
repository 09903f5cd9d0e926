"""Acting in environments outside JAX, step by step: trees in NumPy, all else compiled."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float, Int

from crisptree.learn.agent import Agent, Learner
from crisptree.learn.moments import CLIP, Moments
from crisptree.learn.rollout import sample_actions
from crisptree.soft import AxisTree, SoftTree
from crisptree.soft.plain import log_policies

Sampled = tuple[Int[np.ndarray, "S N"], Float[np.ndarray, "S N"]]
Sampler = Callable[[Float[np.ndarray, "S N F"], Float[np.ndarray, "S N"]], Sampled]
"""From what the environments of S seeds show, and uniform numbers, to actions with their
log-probabilities."""


def sampler(agents: Learner) -> Sampler:
    """Acts as `agents` do now."""
    if isinstance(agents, Agent) and isinstance(agents.actor, SoftTree | AxisTree):
        return _in_numpy(agents.actor, agents.observations)
    parameters, static = eqx.partition(agents, eqx.is_array)
    act = _compiled(static)

    def sample(observation: np.ndarray, uniform: np.ndarray) -> Sampled:
        action, log_probability = act(parameters, observation, uniform)
        return np.asarray(action), np.asarray(log_probability)

    return sample


@lru_cache(maxsize=32)
def _compiled(static: Any):
    """`jax.jit` on bare parameters: a call costs a third of what `eqx.filter_jit` costs."""

    def act(parameters: Any, observation, uniform):
        agent = eqx.combine(parameters, static)
        return sample_actions(agent.log_policy(observation), uniform)

    return jax.jit(jax.vmap(act))


def _in_numpy(trees: SoftTree | AxisTree, moments: Moments) -> Sampler:
    """The same arithmetic as `Agent.log_policy` and `sample_actions`."""
    log_policy = log_policies(trees)
    mean, deviation = (np.asarray(m)[:, None] for m in (moments.mean, moments.deviation))
    seen = np.asarray(moments.count)[:, None, None] > 0
    all_seen = seen.all()

    # Called between two steps of the environments: plain indices and bounds, since the functions
    # that serve every case take as long as the arithmetic.
    def sample(observation: np.ndarray, uniform: np.ndarray) -> Sampled:
        standard = np.minimum(np.maximum((observation - mean) / deviation, -CLIP), CLIP)
        log_policies = log_policy(standard if all_seen else np.where(seen, standard, observation))
        cumulative = np.exp(log_policies).cumsum(-1)
        action = (cumulative <= uniform[..., None] * cumulative[..., -1:]).sum(-1)
        taken = np.arange(action.size) * log_policies.shape[-1] + action.ravel()
        return action, log_policies.ravel()[taken].reshape(action.shape)

    return sample
