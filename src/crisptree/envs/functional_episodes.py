"""Episodes of a functional environment side by side, in one compiled step."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from crisptree.crisp.signature import Actions
from crisptree.envs.episodes import EpisodeBatch, EpisodeStep
from crisptree.envs.functional import FunctionalEnv
from crisptree.envs.seeded_episodes import EpisodeState, choose, compiled, seed_keys


def action_array(actions: Actions, chosen: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A policy's actions as a functional environment takes them, for `shape` rows. A NumPy array,
    which a compiled program takes faster than JAX could convert it."""
    values = () if actions.kind == "discrete" else (actions.n_values,)
    array = np.asarray(chosen).reshape(*shape, *values)
    if actions.kind == "box":
        return np.clip(array, actions.low, actions.high).astype(np.float32)
    return array.astype(np.int32)


class FunctionalEpisodes(EpisodeBatch):
    """Episodes in one compiled step. All slots are stepped every time, so that one program serves
    any number of running episodes."""

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
            self._episodes = choose(chosen, fresh, self._episodes)
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
