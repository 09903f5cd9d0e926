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
from jaxtyping import Array, Bool, Float, Key

from crisptree.crisp.signature import Actions
from crisptree.envs.episodes import EpisodeBatch, EpisodeStep
from crisptree.envs.functional import FunctionalEnv, TimeStep


class EpisodeState(NamedTuple):
    """An episode and the key from which the rest of it, and all later ones, follow."""

    key: Key[Array, ""]
    state: Any


def begin(
    env: FunctionalEnv, key: Key[Array, ""]
) -> tuple[EpisodeState, Float[Array, "*agents F"]]:
    """A fresh episode and its first observation."""
    key, for_reset = jax.random.split(key)
    state, observation = env.reset(for_reset)
    return EpisodeState(key, state), observation


def advance(
    env: FunctionalEnv, episode: EpisodeState, action: Array
) -> tuple[EpisodeState, TimeStep]:
    """One step of an episode."""
    key, for_step = jax.random.split(episode.key)
    at = env.step(for_step, episode.state, action)
    return EpisodeState(key, at.state), at


def advance_or_begin(
    env: FunctionalEnv, episode: EpisodeState, over: Bool[Array, ""], action: Array
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


class Compiled(NamedTuple):
    """The functions above for one environment: alone, and for many episodes at once."""

    begin: Any
    advance: Any
    begin_many: Any
    advance_many: Any
    advance_or_begin_many: Any


@lru_cache(maxsize=16)
def compiled(env: FunctionalEnv) -> Compiled:
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


def seed_keys(seeds: Sequence[int]) -> Key[Array, " seeds"]:
    """The key of each seed's episode."""
    words = [int(np_random(int(seed))[0].integers(2**32)) for seed in seeds]
    return jax.vmap(jax.random.key)(np.array(words, np.uint32))


def action_array(actions: Actions, chosen: np.ndarray, shape: tuple[int, ...]) -> Array:
    """A policy's actions as a functional environment takes them, for `shape` rows."""
    values = () if actions.kind == "discrete" else (actions.n_values,)
    array = np.asarray(chosen).reshape(*shape, *values)
    if actions.kind == "box":
        return jnp.asarray(np.clip(array, actions.low, actions.high), jnp.float32)
    return jnp.asarray(array, jnp.int32)


class FunctionalEpisodes(EpisodeBatch):
    """Episodes in one compiled step. All slots are stepped every time, so that one program serves
    however many still run."""

    starts_together = False

    def __init__(self, env: FunctionalEnv, n_slots: int) -> None:
        self.n_slots, self._env = n_slots, env
        self._compiled = compiled(env)
        self._agents = () if env.n_agents == 1 else (env.n_agents,)
        self._episodes: EpisodeState | None = None

    def start(self, slots: np.ndarray, seeds: list[int]) -> np.ndarray:
        every = np.zeros(self.n_slots, np.int64)
        every[slots] = seeds
        fresh, observation = self._compiled.begin_many(seed_keys(every.tolist()))
        if self._episodes is None or len(slots) == self.n_slots:
            self._episodes = fresh
        else:
            chosen = jnp.zeros(self.n_slots, bool).at[slots].set(True)
            self._episodes = _where(chosen, fresh, self._episodes)
        return self._rows(observation, slots)

    def _rows(self, observation: Array, slots: np.ndarray) -> np.ndarray:
        return np.asarray(observation, np.float32)[slots].reshape(-1, self._env.n_features)

    def step(self, slots: np.ndarray, action: np.ndarray) -> EpisodeStep:
        action = np.asarray(action)
        rows = action.reshape(len(slots), *self._agents, *action.shape[1:])
        every = np.zeros((self.n_slots, *rows.shape[1:]), rows.dtype)
        every[slots] = rows
        given = action_array(self._env.actions, every, (self.n_slots, *self._agents))
        self._episodes, at = self._compiled.advance_many(self._episodes, given)
        dead = np.asarray(at.terminated)[slots].reshape(len(slots), -1)
        reward = np.asarray(at.reward, np.float64)[slots].reshape(len(slots), -1)[:, 0]
        over = np.asarray(dead.all(axis=1))
        truncated = np.asarray(at.truncated)[slots] & ~over
        return EpisodeStep(self._rows(at.observation, slots), reward, over, truncated, ~dead)

    def close(self) -> None:
        """Nothing to close."""


def _where(chosen: Array, one: Any, other: Any) -> Any:
    """Leaf by leaf, the episodes that were chosen from `one`, the others from `other`."""

    def pick(a: Array, b: Array) -> Array:
        return jnp.where(chosen.reshape(-1, *(1,) * (a.ndim - 1)), a, b)

    return jax.tree.map(pick, one, other)
