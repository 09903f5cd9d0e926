"""Training in segments: the one loop that everything that learns goes through.

A segment is some updates of all seeds: one compiled program where the environment is in JAX, else
NumPy collects and a compiled program updates.

Every `RESTART` updates all environments start afresh, seeded by the states' own keys and update
count. So at those moments the states are all there is to a training: saved there and loaded again,
it goes on bit for bit, whatever the environment is made of.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from crisptree.base.errors import CrisptreeError
from crisptree.envs.functional import FunctionalEnv
from crisptree.envs.guard import misbehaved
from crisptree.envs.registry import twin_of
from crisptree.envs.seeds import block_seed
from crisptree.envs.task import Task
from crisptree.envs.vector import VectorEnv
from crisptree.envs.vector_env import threads, vector_env
from crisptree.learn import dqn, ppo, reinforce, sac
from crisptree.learn.collect import EnvBatch, HostCollector, collect, fresh_envs
from crisptree.learn.config import AnyConfig, DQNConfig, PPOConfig, ReinforceConfig, SACConfig
from crisptree.learn.seed_pool import Programs, SeedPool
from crisptree.learn.trajectory import Trajectory

RESTART = 64
"""Updates between two restarts of all environments."""
SEGMENT = 16
"""Most updates of a segment, and fewest segments of a short training."""
LARGEST = 1e18
"""The squares of larger numbers are beyond float32."""

Between = Callable[[Any, Sequence[np.ndarray]], Any]
"""From the states after a segment, and the observations of each seed's last trajectory, to the
states to go on with."""


class Progress(NamedTuple):
    """Where a training stands after a segment."""

    states: Any
    update: int
    """Updates so far, of the seed that made most."""
    metrics: dict[str, np.ndarray]
    """Of the segment, each `(updates, seeds)`; NaN where a seed's training had ended before."""
    share: float
    """How much of the training is done, from 0 to 1: that of the seed furthest back."""
    steps_per_update: int
    is_resumable: bool
    """Whether the states alone are enough to go on from here, bit for bit."""


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


class Trainer:
    """Trains learners on a task: one for each seed, side by side.

    Learning is one compiled program where the task has a twin in JAX. `env` takes the place of the
    task's own environments: a functional one, or vector environments of `n_seeds * n_envs` in all.
    `at_once`: whether all seeds are learned by one call, as on an accelerator, or each by itself.
    """

    def __init__(
        self,
        task: Task | None,
        config: AnyConfig,
        n_seeds: int = 1,
        seed: int = 0,
        *,
        env: FunctionalEnv | Sequence[VectorEnv] | None = None,
        restart_every: int = RESTART,
        at_once: bool | None = None,
    ) -> None:
        self.config, self.n_seeds, self._seed = config, n_seeds, seed
        self._task, self._env = task, env
        self._restart_every, self._at_once = restart_every, at_once
        self._runner: Runner | None = None

    def __enter__(self) -> "Trainer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the environments."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    def learn(
        self,
        states: Any,
        segment_length: int | None = None,
        *,
        between: Between | None = None,
        is_late: Callable[[], bool] = lambda: False,
    ) -> Iterator[Progress]:
        """Segments of at most `segment_length` updates until every seed's training is done.

        Unless given, segments have 16 updates, or fewer in a short training, so that no segment of
        a slow environment takes all the time there is. Restarts fall between two segments.
        `between` may change the states after a segment. Once `is_late`, the segment that was under
        way is the last.
        """
        self.close()
        self._runner = runner = self._new_runner()
        update = _update_of(states)
        longest = segment_length or min(SEGMENT, max(1, int(np.max(states.n_updates)) // SEGMENT))
        runner.restart(states, update)
        while not np.all(states.schedule.is_done):
            n = min(longest, self._restart_every - update % self._restart_every)
            states, metrics, observations = runner.advance(states, n)
            update = _update_of(states)
            name = "" if self._task is None else self._task.name
            _check_losses(metrics, update, observations, name)
            if between is not None:
                states = between(states, observations)
            share = float(np.min(states.progress))
            restarts = update % self._restart_every == 0
            steps = self.config.steps_per_update
            yield Progress(states, update, metrics, share, steps, restarts or share == 1)
            if is_late():
                return
            if restarts:
                runner.restart(states, update)

    def _new_runner(self) -> Runner:
        env, pool = self._env, SeedPool(self.n_seeds, self._at_once)
        if env is None and self._task is not None:
            env = twin_of(self._task)
        if isinstance(env, FunctionalEnv):
            # Room for the longest segment there is: one program, however long segments are.
            return CompiledRunner(env, self.config, pool, self._restart_every)
        n_agents = 1 if self._task is None else self._task.n_agents or 1
        envs = self._host_envs() if env is None else env
        return HostRunner(envs, self.config, pool, n_agents, self._seed)

    def _host_envs(self) -> Sequence[VectorEnv]:
        assert self._task is not None, "a trainer needs a task or environments"
        envs = vector_env(self._task, self.n_seeds * self.config.n_envs, threads())
        # Seeds that act together wait for each other, so only one seed has environments in parts.
        in_parts = getattr(envs, "parts", None)
        return in_parts() if in_parts is not None and self.n_seeds == 1 else [envs]


def _update_of(states: Any) -> int:
    """The updates of the seed that made most; the others made as many, or are done."""
    return int(np.max(states.update))


def _check_losses(
    metrics: dict[str, np.ndarray], update: int, observations: Sequence[np.ndarray], env: str
) -> None:
    """Refuse to go on with a loss that is no number."""
    made = np.isfinite(metrics["progress"])
    for name, values in metrics.items():
        if name.endswith("loss") and not np.isfinite(values[made]).all():
            what = name.replace("_", " ")
            returns = metrics["return"][~np.isnan(metrics["return"])]
            for where, numbers in (("observations", observations), ("returns", [returns])):
                largest = max(float(np.abs(each).max(initial=0.0)) for each in numbers)
                if largest > LARGEST:
                    raise misbehaved(
                        env,
                        f"has {where} as large as {largest:.2g}, whose squares float32 does not "
                        f"hold: the {what} became NaN; smaller units would help",
                    )
            raise CrisptreeError(
                f"the {what} became NaN at update {update}: "
                "a smaller learning rate would help; the last good checkpoint is kept"
            )


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
        n, gamma = self._pool.n_seeds, self._config.discount
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
            by_seed = (Trajectory(*parts) for parts in zip(*trajectory, strict=True))
            trajectories = [trajectory] if pool.at_once else list(by_seed)
            done = pool.run(_UPDATE, pool.split(states), trajectories, configs)
            states = pool.join([state for state, _ in done])
            logs.append({name: pool.by_seed([m[name] for _, m in done]) for name in done[0][1]})
            if len(logs) == n or bool(np.all(states.schedule.is_done)):
                break
        logged = {name: np.stack([log[name] for log in logs], 1) for name in logs[0]}
        seen = zip(trajectory.observation, trajectory.mask, strict=True)
        return Segment(
            states,
            {name: _padded(values, n_made) for name, values in logged.items()},
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


def _padded(values: np.ndarray, n_made: np.ndarray) -> np.ndarray:
    """`(updates, seeds)` from what was logged for each seed, NaN after its last update."""
    most = int(n_made.max())
    made = np.arange(most) < n_made[:, None]
    return np.where(made, values[:, :most], np.nan).T
