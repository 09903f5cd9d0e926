"""Seeded episodes of functional environments, compiled step by step, alone or side by side.

Everything that plays a functional environment outside the learner derives its random numbers here
in the same way, so that a seed gives the same episode everywhere.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.utils.seeding import np_random
from jaxtyping import Array, Bool, Key

from crisptree.envs.functional import Simulation, TimeStep


class EpisodeState(NamedTuple):
    """An episode and the key from which the rest of it, and all later ones, follow."""

    key: Key[Array, ""]
    state: Any


def begin(env: Simulation, key: Key[Array, ""]) -> tuple[EpisodeState, Any]:
    """A fresh episode and its first observation."""
    key, for_reset = jax.random.split(key)
    state, observation = env.reset(for_reset)
    return EpisodeState(key, jax.tree.map(_strong, state)), observation


def _strong(value: Any) -> Array:
    """The value without JAX's weak type, as steps return it: else a step would be compiled
    twice."""
    array = jnp.asarray(value)
    return array.astype(array.dtype) if array.weak_type else array


def advance(env: Simulation, episode: EpisodeState, action: Array) -> tuple[EpisodeState, TimeStep]:
    """One step of an episode."""
    key, for_step = jax.random.split(episode.key)
    at = env.step(for_step, episode.state, action)
    return EpisodeState(key, at.state), at


def advance_or_begin(
    env: Simulation, episode: EpisodeState, over: Bool[Array, ""], action: Array
) -> tuple[EpisodeState, TimeStep]:
    """One step, or, where the episode was over before it, only a fresh start."""
    stepped, at = advance(env, episode, action)
    fresh, observation = begin(env, episode.key)
    started = TimeStep(
        fresh.state,
        observation,
        jnp.zeros_like(at.reward),
        jnp.zeros_like(at.terminated),
        jnp.zeros_like(at.truncated),
    )
    # Both splits of the key are the same one, so the key needs no choice.
    at = jax.tree.map(lambda a, b: jnp.where(over, a, b), started, at)
    return EpisodeState(stepped.key, at.state), at


def choose(which: Bool[Array, " n"], one: Any, other: Any) -> Any:
    """Leaf by leaf, the rows of `one` where `which` is true, and of `other` elsewhere."""

    def pick(a: Array, b: Array) -> Array:
        return jnp.where(which.reshape(-1, *(1,) * (a.ndim - 1)), a, b)

    return jax.tree.map(pick, one, other)


class Compiled(NamedTuple):
    """The functions above for one environment: alone, and for many episodes at once."""

    begin: Any
    advance: Any
    begin_many: Any
    advance_many: Any
    advance_or_begin_many: Any


@lru_cache(maxsize=16)
def compiled(env: Simulation) -> Compiled:
    def beginning(key):
        return begin(env, key)

    def advancing(episode, action):
        return advance(env, episode, action)

    def either(episode, over, action):
        return advance_or_begin(env, episode, over, action)

    return Compiled(
        jax.jit(beginning),
        jax.jit(advancing),
        jax.jit(jax.vmap(beginning)),
        jax.jit(jax.vmap(advancing)),
        jax.jit(jax.vmap(either)),
    )


def seed_key(rng: np.random.Generator) -> Key[Array, ""]:
    return jax.random.key(int(rng.integers(2**32)))


def seed_words(seeds: Sequence[int]) -> np.ndarray:
    """The number that the key of each seed's episode is made from."""
    return np.array([np_random(int(s))[0].integers(2**32) for s in seeds], np.uint32)


def seed_keys(seeds: Sequence[int]) -> Key[Array, " seeds"]:
    """The key of each seed's episode."""
    return jax.vmap(jax.random.key)(seed_words(seeds))
