"""Segments of a training: some updates of all seeds, compiled whole or with environments outside
JAX."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from crisptree.base.processes import cores
from crisptree.envs.functional import FunctionalEnv
from crisptree.envs.seeds import block_seed
from crisptree.envs.vector import VectorEnv
from crisptree.learn import dqn, ppo, reinforce
from crisptree.learn.collect import EnvBatch, collect, fresh_envs
from crisptree.learn.config import AnyConfig, DQNConfig, PPOConfig
from crisptree.learn.host import HostCollector
from crisptree.learn.stacks import n_seeds, pick, stack
from crisptree.learn.traced_config import for_seeds, of_seed
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
    if isinstance(config, PPOConfig):
        return ppo
    return dqn if isinstance(config, DQNConfig) else reinforce


class CompiledRunner(Runner):
    """Learning in a functional environment: collecting and updating are one compiled program.

    On a CPU each seed runs in a thread of its own, by one program for any number of seeds; an
    accelerator takes all seeds at once.
    """

    def __init__(self, env: FunctionalEnv, config: AnyConfig, most_updates: int) -> None:
        self._env, self._config, self._most = env, config, most_updates
        self._envs: list[EnvBatch] = []
        self._threads = ThreadPoolExecutor(cores(), thread_name_prefix="seed")

    def restart(self, states: Any, update: int) -> None:
        fresh = partial(_fresh, env=self._env, n_envs=self._config.n_envs)
        self._envs = [fresh(part.key) for part in self._parts(states)]

    def advance(self, states: Any, n: int) -> Segment:
        parts = self._parts(states)
        program = partial(_one_seed if _on_cpu() else _all_seeds, env=self._env, most=self._most)
        configs = [of_seed(self._config, i) for i in range(len(parts))]
        if not _on_cpu():
            configs = [for_seeds(self._config, n_seeds(states))]
        if len(parts) > 1:  # compiled once, before all threads ask for it
            program(parts[0], self._envs[0], np.int32(0), configs[0])

        def run(part: Any, envs: EnvBatch, config: AnyConfig) -> Any:
            return jax.block_until_ready(program(part, envs, np.int32(n), config))

        done = list(self._threads.map(run, parts, self._envs, configs))
        self._envs = [each.envs for each in done]
        if not _on_cpu():
            done = [pick(done[0], i) for i in range(n_seeds(states))]
        counts = [int(each.n_made) for each in done]
        logs = [{name: np.asarray(v) for name, v in each.log.items()} for each in done]
        return Segment(
            stack([each.state for each in done]),
            {name: _padded([log[name] for log in logs], counts) for name in logs[0]},
            [np.asarray(each.observation)[np.asarray(each.mask)] for each in done],
        )

    def _parts(self, states: Any) -> list[Any]:
        """What runs at the same time: each seed, or all of them as one."""
        return [pick(states, i) for i in range(n_seeds(states))] if _on_cpu() else [states]

    def close(self) -> None:
        self._threads.shutdown()


class HostRunner(Runner):
    """Learning in environments outside JAX: NumPy collects, a compiled program updates."""

    def __init__(
        self, envs: Sequence[VectorEnv], config: AnyConfig, n_seeds: int, n_agents: int, seed: int
    ) -> None:
        self._envs, self._config = envs, config
        self._n_seeds, self._n_agents, self._seed = n_seeds, n_agents, seed
        self._collector: HostCollector | None = None

    def restart(self, states: Any, update: int) -> None:
        seed = block_seed("training", self._n_seeds * self._config.n_envs, self._seed, update)
        gamma = self._config.gamma
        self._collector = HostCollector(self._envs, self._n_seeds, self._n_agents, gamma, seed)

    def advance(self, states: Any, n: int) -> Segment:
        assert self._collector is not None
        logs: list[dict[str, np.ndarray]] = []
        counts = np.zeros(self._n_seeds, int)
        while True:
            trajectory = self._collector.collect(states, self._config)
            goes_on = ~np.asarray(states.schedule.is_done)
            states, metrics = _host_update(states, trajectory, self._config)
            logs.append({name: np.asarray(value) for name, value in metrics.items()})
            counts += goes_on
            if len(logs) == n or bool(np.all(states.schedule.is_done)):
                break
        by_seed = {name: np.stack([log[name] for log in logs], 1) for name in logs[0]}
        metrics = {name: _padded(list(values), counts.tolist()) for name, values in by_seed.items()}
        seen = zip(np.asarray(trajectory.observation), np.asarray(trajectory.mask), strict=True)
        return Segment(states, metrics, [observation[mask] for observation, mask in seen])

    def close(self) -> None:
        for each in self._envs:
            each.close()


class _Carry(NamedTuple):
    """What a compiled segment hands on from update to update."""

    n_made: Int[Array, ""]
    state: Any
    envs: EnvBatch
    log: dict[str, Array]
    observation: Array
    mask: Array


def _advance(
    state: Any, envs: EnvBatch, n: Int[Array, ""], config: AnyConfig, env: Any, most: int
) -> _Carry:
    """At most `n <= most` updates of one seed. `n` is traced: one program serves every length."""
    algorithm = algorithm_of(config)

    def one_update(state: Any, envs: EnvBatch) -> tuple[Any, EnvBatch, Any, Trajectory]:
        envs, trajectory = collect(state, envs, env, config)
        state, metrics = algorithm.update(state, trajectory, config)
        return state, envs, metrics, trajectory

    def body(at: _Carry) -> _Carry:
        state, envs, metrics, trajectory = one_update(at.state, at.envs)
        log = {name: at.log[name].at[at.n_made].set(value) for name, value in metrics.items()}
        seen = (trajectory.observation, trajectory.mask)
        return _Carry(at.n_made + 1, state, envs, log, *seen)

    def goes_on(at: _Carry) -> Array:
        return (at.n_made < n) & ~at.state.schedule.is_done

    _, _, metrics, trajectory = jax.eval_shape(one_update, state, envs)
    log = {name: jnp.full(most, jnp.nan, value.dtype) for name, value in metrics.items()}
    seen = (jnp.zeros(part.shape, part.dtype) for part in (trajectory.observation, trajectory.mask))
    return jax.lax.while_loop(goes_on, body, _Carry(jnp.int32(0), state, envs, log, *seen))


_one_seed = jax.jit(_advance, static_argnames=("env", "most"))


@partial(jax.jit, static_argnames=("env", "most"))
def _all_seeds(
    states: Any, envs: EnvBatch, n: Int[Array, ""], config: AnyConfig, env: Any, most: int
) -> _Carry:
    advance = partial(_advance, env=env, most=most)
    return jax.vmap(advance, in_axes=(0, 0, None, 0))(states, envs, n, config)


@partial(jax.jit, static_argnames=("env", "n_envs"))
def _fresh(keys: Array, env: Any, n_envs: int) -> EnvBatch:
    """Fresh environments for one key, or for each of several."""
    fresh = partial(fresh_envs, env, n_envs)
    return fresh(keys) if keys.ndim == 0 else jax.vmap(fresh)(keys)


def _host_update(
    states: Any, trajectory: Trajectory, config: AnyConfig
) -> tuple[Any, dict[str, Array]]:
    """All seeds after one update; those whose training has ended stay as they are."""
    is_done = np.asarray(states.schedule.is_done)
    config = for_seeds(config, n_seeds(states))
    learned, metrics = _update_seeds(states, trajectory, config)
    return (_unless(is_done, learned, states) if is_done.any() else learned), metrics


@jax.jit
def _update_seeds(
    states: Any, trajectory: Trajectory, config: AnyConfig
) -> tuple[Any, dict[str, Array]]:
    return jax.vmap(algorithm_of(config).update)(states, trajectory, config)


@jax.jit
def _unless(condition: Array, states: Any, otherwise: Any) -> Any:
    """Seed by seed `states`, or `otherwise` where the condition holds."""
    choose = jax.vmap(lambda c, a, b: jax.tree.map(lambda x, y: jnp.where(c, y, x), a, b))
    return choose(condition, states, otherwise)


def _on_cpu() -> bool:
    return jax.default_backend() == "cpu"


def _padded(values: Sequence[np.ndarray], counts: Sequence[int]) -> np.ndarray:
    """`(updates, seeds)` from what was logged for each seed, NaN after its last update."""
    columns = [
        np.where(np.arange(max(counts)) < count, each[: max(counts)], np.nan)
        for each, count in zip(values, counts, strict=True)
    ]
    return np.stack(columns, 1)
