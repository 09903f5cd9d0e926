"""Training in segments: the one loop that everything that learns goes through.

Every `RESTART` updates all environments start afresh, seeded by the states' own keys and update
count. So at those moments the states are all there is to a training: saved there and loaded again,
it goes on bit for bit, whatever the environment is made of.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.envs.functional import FunctionalEnv
from crisptree.envs.guard import misbehaved
from crisptree.envs.registry import twin_of
from crisptree.envs.task import Task
from crisptree.envs.vector import VectorEnv
from crisptree.envs.vector_env import threads, vector_env
from crisptree.learn.config import AnyConfig
from crisptree.learn.runners import CompiledRunner, HostRunner, Runner
from crisptree.learn.seed_pool import SeedPool

RESTART = 64
"""Updates between two restarts of all environments."""
SEGMENT = 16
"""Updates of a segment at most; a short training has as many segments at least."""
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

        Unless given, segments are as long as 16 updates, and shorter where a training has few:
        in a slow environment, one segment must not take all the time there is. A restart always
        falls between two segments. `between` may change the states after a segment. Once `is_late`,
        the segment that was under way is the last.
        """
        self.close()
        self._runner = runner = self._new_runner()
        update = _update_of(states)
        longest = segment_length or _segment_length(states)
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


def _segment_length(states: Any) -> int:
    return min(SEGMENT, max(1, int(np.max(states.n_updates)) // SEGMENT))


def _update_of(states: Any) -> int:
    """That of the seed that made most: the others are done, or as far."""
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
