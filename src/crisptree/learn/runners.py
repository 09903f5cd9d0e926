"""Segments of a training: some updates of all seeds, compiled whole or with environments outside
JAX."""

from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from crisptree.envs.functional import FunctionalEnv
from crisptree.envs.seeds import block_seed
from crisptree.envs.vector import VectorEnv
from crisptree.learn import dqn, ppo, reinforce, sac
from crisptree.learn.collect import EnvBatch, collect, fresh_envs
from crisptree.learn.config import AnyConfig, DQNConfig, PPOConfig, ReinforceConfig, SACConfig
from crisptree.learn.host import HostCollector
from crisptree.learn.seed_pool import Programs, SeedPool
from crisptree.learn.trajectory import Trajectory


class Segment(NamedTuple):
    """What some updates led to."""

    states: Any
    metrics: dict[str, np.ndarray]
    """Each `(updates, seeds)`; NaN where a seed's training had ended before."""
    observations: list[np.ndarray]
    """For each seed the raw observations `(rows, F)` of its last trajectory."""


@runtime_checkable
class Runner(Protocol):
    """Owns the environments of a training."""

    def restart(self, states: Any, update: int) -> None:
        """All environments start afresh, as the states and the update number say."""
        ...

    def advance(self, states: Any, n: int) -> Segment:
        """`n` updates of every seed, or fewer where its training ends."""
        ...

    def close(self) -> None: ...


def algorithm_of(config: AnyConfig) -> ModuleType:
    """The module that learns with such a configuration."""
    modules = {PPOConfig: ppo, ReinforceConfig: reinforce, DQNConfig: dqn, SACConfig: sac}
    return modules[type(config)]


class CompiledRunner(Runner):
    """Learning in a functional environment: collecting and updating are one compiled program."""

    def __init__(
        self, env: FunctionalEnv, config: AnyConfig, pool: SeedPool, most_updates: int
    ) -> None:
        self._config, self._pool = config, pool
        fixed = {"env": env, "most": most_updates}
        self._advance = Programs(partial(_advance_one, **fixed), partial(_advance_every, **fixed))
        self._fresh = partial(_fresh, env=env, n_envs=config.n_envs)
        self._envs: list[EnvBatch] = []

    def restart(self, states: Any, update: int) -> None:
        self._envs = [self._fresh(part.key) for part in self._pool.split(states)]

    def advance(self, states: Any, n: int) -> Segment:
        pool, parts = self._pool, self._pool.split(states)
        lengths = [np.int32(n)] * len(parts)
        done = pool.run(self._advance, parts, self._envs, pool.configs(self._config), lengths)
        self._envs = [each.envs for each in done]
        n_made = pool.by_seed([each.n_made for each in done])
        log = {name: pool.by_seed([each.log[name] for each in done]) for name in done[0].log}
        observation = pool.by_seed([each.observation for each in done])
        mask = pool.by_seed([each.mask for each in done])
        return Segment(
            pool.join([each.state for each in done]),
            {name: _padded(values, n_made) for name, values in log.items()},
            [rows[acted] for rows, acted in zip(observation, mask, strict=True)],
        )

    def close(self) -> None:
        self._pool.close()


class HostRunner(Runner):
    """Learning in environments outside JAX: NumPy collects, a compiled program updates."""

    def __init__(
        self,
        envs: Sequence[VectorEnv],
        config: AnyConfig,
        pool: SeedPool,
        n_agents: int,
        seed: int,
    ) -> None:
        self._envs, self._config, self._pool = envs, config, pool
        self._n_agents, self._seed = n_agents, seed
        self._collector: HostCollector | None = None

    def restart(self, states: Any, update: int) -> None:
        n, gamma = self._pool.n_seeds, self._config.gamma
        seed = block_seed("training", n * self._config.n_envs, self._seed, update)
        self._collector = HostCollector(self._envs, n, self._n_agents, gamma, seed)

    def advance(self, states: Any, n: int) -> Segment:
        assert self._collector is not None
        pool, configs = self._pool, self._pool.configs(self._config)
        logs: list[dict[str, np.ndarray]] = []
        n_made = np.zeros(pool.n_seeds, int)
        while True:
            trajectory = self._collector.collect(states, self._config)
            n_made += ~np.asarray(states.schedule.is_done)
            trajectories = [trajectory] if pool.at_once else _seeds_of(trajectory)
            done = pool.run(_UPDATE, pool.split(states), trajectories, configs)
            states = pool.join([state for state, _ in done])
            logs.append({name: pool.by_seed([m[name] for _, m in done]) for name in done[0][1]})
            if len(logs) == n or bool(np.all(states.schedule.is_done)):
                break
        by_seed = {name: np.stack([log[name] for log in logs], 1) for name in logs[0]}
        seen = zip(trajectory.observation, trajectory.mask, strict=True)
        return Segment(
            states,
            {name: _padded(values, n_made) for name, values in by_seed.items()},
            [np.asarray(rows)[np.asarray(acted)] for rows, acted in seen],
        )

    def close(self) -> None:
        self._pool.close()
        for each in self._envs:
            each.close()


class _SegmentState(NamedTuple):
    """What a compiled segment hands on from update to update."""

    n_made: Int[Array, ""]
    state: Any
    envs: EnvBatch
    log: dict[str, Array]
    observation: Array
    mask: Array


def _advance(
    state: Any, envs: EnvBatch, config: AnyConfig, n: Int[Array, ""], env: Any, most: int
) -> _SegmentState:
    """At most `n <= most` updates of one seed. `n` is traced: one program serves every length."""
    algorithm = algorithm_of(config)

    def one_update(state: Any, envs: EnvBatch) -> tuple[Any, EnvBatch, Any, Trajectory]:
        envs, trajectory = collect(state, envs, env, config)
        state, metrics = algorithm.update(state, trajectory, config)
        return state, envs, metrics, trajectory

    def body(at: _SegmentState) -> _SegmentState:
        state, envs, metrics, trajectory = one_update(at.state, at.envs)
        log = {name: at.log[name].at[at.n_made].set(value) for name, value in metrics.items()}
        seen = (trajectory.observation, trajectory.mask)
        return _SegmentState(at.n_made + 1, state, envs, log, *seen)

    def goes_on(at: _SegmentState) -> Array:
        return (at.n_made < n) & ~at.state.schedule.is_done

    _, _, metrics, trajectory = jax.eval_shape(one_update, state, envs)
    log = {name: jnp.full(most, jnp.nan, value.dtype) for name, value in metrics.items()}
    seen = (jnp.zeros(part.shape, part.dtype) for part in (trajectory.observation, trajectory.mask))
    return jax.lax.while_loop(goes_on, body, _SegmentState(jnp.int32(0), state, envs, log, *seen))


_advance_one = jax.jit(_advance, static_argnames=("env", "most"))


@partial(jax.jit, static_argnames=("env", "most"))
def _advance_every(
    states: Any, envs: EnvBatch, config: AnyConfig, n: Int[Array, ""], env: Any, most: int
) -> _SegmentState:
    advance = partial(_advance, env=env, most=most)
    return jax.vmap(advance, in_axes=(0, 0, 0, None))(states, envs, config, n)


@partial(jax.jit, static_argnames=("env", "n_envs"))
def _fresh(keys: Array, env: Any, n_envs: int) -> EnvBatch:
    """Fresh environments for one key, or for each of several."""
    fresh = partial(fresh_envs, env, n_envs)
    return fresh(keys) if keys.ndim == 0 else jax.vmap(fresh)(keys)


def _update(state: Any, trajectory: Trajectory, config: AnyConfig) -> tuple[Any, dict[str, Array]]:
    """One seed after an update; as it is where its training has ended."""
    learned, metrics = algorithm_of(config).update(state, trajectory, config)
    is_done = state.schedule.is_done
    kept = jax.tree.map(lambda old, new: jnp.where(is_done, old, new), state, learned)
    return kept, metrics


_UPDATE = Programs(jax.jit(_update), jax.jit(jax.vmap(_update)))


def _seeds_of(trajectory: Trajectory) -> list[Trajectory]:
    """The trajectory of each seed."""
    return [Trajectory(*parts) for parts in zip(*trajectory, strict=True)]


def _padded(values: np.ndarray, n_made: np.ndarray) -> np.ndarray:
    """`(updates, seeds)` from what was logged for each seed, NaN after its last update."""
    most = int(n_made.max())
    made = np.arange(most) < n_made[:, None]
    return np.where(made, values[:, :most], np.nan).T
