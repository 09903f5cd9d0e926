"""Gymnasium environments shared out among processes, for those whose steps are slow in Python.

Gymnasium's `AsyncVectorEnv` starts the processes, moves the arrays through shared memory and ends
with its parent. It runs one environment a process, which is too many processes for dozens of
environments; so each process gets a group of them, which to `AsyncVectorEnv` is one environment
whose observation is all that a step of the group led to. A seed gives the same bytes as in one
process.
"""

import contextlib
import os
import sys
import types
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from crisptree.base.errors import CrisptreeError
from crisptree.envs.action_spaces import sample_actions
from crisptree.envs.gymnasium_envs import GymnasiumEnvs
from crisptree.envs.source import EnvSource
from crisptree.envs.task import Task, task_of
from crisptree.envs.vector import VectorEnv, VectorStep

FIELDS = VectorStep._fields
START = "spawn"
"""Processes start afresh: a fork would copy JAX's threads in the middle of their work."""


class EnvGroup(gym.Env):
    """Several environments as one: its observation has the fields of a `VectorStep`.

    Groups have equally many rows; in the last one, rows without an environment stay 0.
    """

    def __init__(self, source: bytes, rows: int, n_envs: int, n_features: int, shape: tuple):
        self._source, self._rows, self._n_envs = source, rows, n_envs
        self._envs: GymnasiumEnvs | None = None
        anything = partial(spaces.Box, -np.inf, np.inf, dtype=np.float32)
        flags = spaces.MultiBinary(rows)
        wide, flat = anything(shape=(rows, n_features)), anything(shape=(rows,))
        fields = (wide, wide, flat, flags, flags, flags)
        self.observation_space = spaces.Dict(dict(zip(FIELDS, fields, strict=True)))
        self.action_space = spaces.Box(-np.inf, np.inf, (rows, *shape), np.float64)

    def prepare(self) -> None:
        """Make the environments: the first call in a process of its own."""
        task = task_of(EnvSource.from_bytes(self._source))
        self._envs = GymnasiumEnvs(task, self._n_envs)
        self._used = self._n_envs * task.n_rows
        self._whole = task.actions.kind != "box"

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict, dict]:
        assert self._envs is not None
        assert seed is not None
        first = self._envs.reset(seed)
        nothing = np.zeros(len(first), np.float32)
        return self._padded((first, first, nothing, nothing, nothing, nothing)), {}

    def step(self, action: np.ndarray) -> tuple[dict, float, bool, bool, dict]:
        assert self._envs is not None
        given = action[: self._used]
        at = self._envs.step(given.astype(np.int64) if self._whole else given)
        return self._padded(at), 0.0, False, False, {}

    def _padded(self, parts: tuple[np.ndarray, ...]) -> dict[str, np.ndarray]:
        found = {}
        for name, part in zip(FIELDS, parts, strict=True):
            whole = np.zeros((self._rows, *part.shape[1:]), part.dtype)
            whole[: len(part)] = part
            found[name] = whole
        return found

    def close(self) -> None:
        if self._envs is not None:
            self._envs.close()


def _group(*arguments: Any, parent: int) -> EnvGroup:
    if os.getpid() != parent:
        os.dup2(2, 1)  # what an environment prints goes to standard error
    return EnvGroup(*arguments)


class ProcessEnvs(VectorEnv):
    """N environments shared out among processes."""

    def __init__(self, task: Task, n_envs: int, n_processes: int) -> None:
        self._task, self._n_envs = task, n_envs
        self._size = -(-n_envs // min(n_processes, n_envs))
        counts = [min(self._size, n_envs - at) for at in range(0, n_envs, self._size)]
        one = sample_actions(task.given_actions, 1, np.random.default_rng(0))
        self._n_rows = n_envs * task.n_rows
        self._rows = self._size * task.n_rows
        packed = task.source.to_bytes()
        makers = [
            partial(
                _group,
                packed,
                self._rows,
                count,
                task.n_features,
                one.shape[1:],
                parent=os.getpid(),
            )
            for count in counts
        ]
        with self._failing("its making"), _without_main():
            self._envs = gym.vector.AsyncVectorEnv(makers, context=START)
            self._envs.call("prepare")

    def reset(self, seed: int) -> np.ndarray:
        seeds: Any = [seed + i * self._size for i in range(self._envs.num_envs)]
        with self._failing("reset"):
            observation, _ = self._envs.reset(seed=seeds)
        return self._joined(observation["observation"])

    def _joined(self, part: np.ndarray) -> np.ndarray:
        return part.reshape(-1, *part.shape[2:])[: self._n_rows]

    def send(self, action: np.ndarray) -> None:
        if self._task.levels is not None:  # the other processes do not know of them
            action = self._task.levels.values(action)
        every = np.zeros((self._envs.num_envs * self._rows, *np.shape(action)[1:]))
        every[: self._n_rows] = action
        with self._failing("step"):
            self._envs.step_async(every.reshape(self._envs.num_envs, self._rows, *every.shape[1:]))

    def receive(self) -> VectorStep:
        with self._failing("step"):
            observation, *_ = self._envs.step_wait()
        parts = [self._joined(observation[name]) for name in FIELDS]
        return VectorStep(*parts[:3], *(part.astype(bool) for part in parts[3:]))

    @contextlib.contextmanager
    def _failing(self, doing: str) -> Iterator[None]:
        """Raise the errors of the processes; one that ended shows in its broken pipe."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # gymnasium warns with the whole traceback
                yield
        except CrisptreeError:
            self.close()
            raise
        except (EOFError, OSError) as error:
            self.close()
            raise CrisptreeError(
                f"the environment '{self._task.name}' ended its process in {doing}"
            ) from error

    def close(self) -> None:
        envs = getattr(self, "_envs", None)
        if envs is not None and not envs.closed:
            with contextlib.suppress(Exception), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                envs.close(terminate=True)
            envs.closed = True


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Start processes that do not run the user's script again. `multiprocessing` would import the
    main module, and a script without `if __name__ == "__main__"` would start all over. What an
    environment needs of it is in the source's bytes."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
