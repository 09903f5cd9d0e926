"""A functional environment as a vector environment: NumPy in and out, one compiled call a step."""

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np

from crisptree.envs.functional import FunctionalEnv
from crisptree.envs.vector import VectorEnv, VectorStep


@lru_cache(maxsize=16)
def _compiled(env: FunctionalEnv):
    def fresh(seed, count):
        return jax.random.fold_in(jax.random.key(seed), count)

    @jax.jit
    def reset(seeds):
        return jax.vmap(lambda seed: env.reset(fresh(seed, 0)))(seeds)

    @jax.jit
    def step(seeds, count, state, action):
        def one(seed, state, action):
            key, for_reset = jax.random.split(fresh(seed, count))
            at = env.step(key, state, action)
            over = at.truncated | at.terminated.all()
            again = env.reset(for_reset)
            start = jax.tree.map(lambda a, b: jnp.where(over, a, b), again, at[:2])
            return start, at.observation, at.reward, at.terminated, over

        return jax.vmap(one)(seeds, state, action)

    return reset, step


class FunctionalEnvs(VectorEnv):
    """N environments; a row is one agent of one of them. Rows of dead agents are not valid."""

    def __init__(self, env: FunctionalEnv, n_envs: int) -> None:
        self._env, self._n_envs = env, n_envs
        self._reset, self._step = _compiled(env)
        agents = () if env.n_agents == 1 else (env.n_agents,)
        self._shape = (n_envs, *agents)
        kind = env.actions.kind
        self._action_shape = self._shape + (() if kind == "discrete" else (env.actions.n_values,))
        self._action_type = jnp.float32 if kind == "box" else jnp.int32

    def reset(self, seed: int) -> np.ndarray:
        self._seeds = jnp.arange(seed, seed + self._n_envs, dtype=jnp.uint32)
        self._count = 0
        self._alive = np.ones(self._shape, bool)
        self._state, observation = self._reset(self._seeds)
        return self._rows(observation)

    def _rows(self, observation) -> np.ndarray:
        return np.asarray(observation).reshape(-1, self._env.n_features)

    def send(self, action: np.ndarray) -> None:
        self._count += 1
        chosen = jnp.asarray(np.asarray(action).reshape(self._action_shape), self._action_type)
        self._under_way = self._step(self._seeds, self._count, self._state, chosen)

    def receive(self) -> VectorStep:
        (self._state, observation), led_to, reward, terminated, over = self._under_way
        terminated, over = np.asarray(terminated), np.asarray(over)
        over_rows = np.broadcast_to(over.reshape(-1, *(1,) * (terminated.ndim - 1)), self._shape)
        valid = self._alive
        self._alive = over_rows | (valid & ~terminated)
        ended = terminated & valid
        return VectorStep(
            self._rows(observation),
            self._rows(led_to),
            np.where(valid, np.asarray(reward), 0).reshape(-1),
            ended.reshape(-1),
            (over_rows & valid & ~ended).reshape(-1),
            valid.reshape(-1),
        )

    def close(self) -> None:
        """Nothing to close."""
