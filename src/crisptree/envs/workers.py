"""Gymnasium environments stepped by several processes, for those whose steps are slow in Python.

Each process has a part of the environments and runs them as `GymnasiumEnvs` does, so a seed gives
the same bytes as in one process. Actions and what they led to lie in memory that all share; a
byte through a pipe says that there is work, another that it is done.
"""

import contextlib
import itertools
import mmap
import os
import subprocess
import sys
import tempfile
import weakref
from typing import IO, NamedTuple

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.envs.host import GymnasiumEnvs, HostEnvs, HostStep

READY, DONE, REFUSED = b"r", b".", b"!"


class Board(NamedTuple):
    """Views into the shared memory."""

    seed: np.ndarray  # () int64; -1: step, else reset
    action: np.ndarray  # (N,) int64
    observation: np.ndarray  # (N, F) float32
    next_observation: np.ndarray  # (N, F) float32
    reward: np.ndarray  # (N,) float32
    terminated: np.ndarray  # (N,) bool
    truncated: np.ndarray  # (N,) bool

    @staticmethod
    def layout(n: int, f: int) -> list[tuple[tuple[int, ...], type]]:
        seen = ((n, f), np.float32)
        return [
            ((), np.int64),
            ((n,), np.int64),
            seen,
            seen,
            ((n,), np.float32),
            ((n,), np.bool_),
            ((n,), np.bool_),
        ]

    @staticmethod
    def size(n: int, f: int) -> int:
        return sum(int(np.prod(s)) * np.dtype(kind).itemsize for s, kind in Board.layout(n, f))

    @staticmethod
    def over(memory: mmap.mmap, n: int, f: int) -> "Board":
        views, at = [], 0
        for shape, kind in Board.layout(n, f):
            views.append(np.ndarray(shape, kind, memory, at))
            at += views[-1].nbytes
        return Board(*views)


class WorkerEnvs(HostEnvs):
    """N gymnasium environments shared out among processes."""

    def __init__(self, env_id: str, n_envs: int, n_workers: int) -> None:
        from crisptree.envs.spaces import describe

        self._env_id = env_id
        sizes = (n_envs, describe(env_id).n_features)
        bounds = np.linspace(0, n_envs, min(n_workers, n_envs) + 1).astype(int)
        with tempfile.NamedTemporaryFile(prefix="crisptree-") as file:
            file.truncate(Board.size(*sizes))
            self._board = Board.over(mmap.mmap(file.fileno(), 0), *sizes)
            self._workers = [
                _spawn(env_id, int(first), int(last - first), file.name, *sizes)
                for first, last in itertools.pairwise(bounds)
            ]
            self._finish = weakref.finalize(self, _end, self._workers)
            self._wait(READY)

    def _wait(self, expected: bytes) -> None:
        for worker in self._workers:
            assert worker.stdout is not None
            if worker.stdout.read(1) != expected:
                self.close()
                raise CrisptreeError(
                    f"a process of its own cannot run '{self._env_id}': what is wrong stands "
                    "above; an id must be one that a fresh process can make (module:Id)"
                )

    def _go(self) -> None:
        for worker in self._workers:
            assert worker.stdin is not None
            with contextlib.suppress(BrokenPipeError):  # `_wait` tells
                worker.stdin.write(b"g")

    def reset(self, seed: int) -> np.ndarray:
        self._board.seed[()] = seed
        self._go()
        self._wait(DONE)
        return self._board.observation.copy()

    def send(self, action: np.ndarray) -> None:
        self._board.seed[()] = -1
        self._board.action[:] = action
        self._go()

    def receive(self) -> HostStep:
        self._wait(DONE)
        _, _, observation, led_to, reward, terminated, truncated = (
            part.copy() for part in self._board
        )
        valid = np.ones(len(reward), bool)
        return HostStep(observation, led_to, reward, terminated, truncated, valid)

    def close(self) -> None:
        self._finish()


def _spawn(env_id: str, first: int, count: int, path: str, n: int, f: int) -> subprocess.Popen:
    """A plain process, not a fork: this one may have threads, and JAX, in the middle of things."""
    numbers = [str(number) for number in (first, count, n, f)]
    return subprocess.Popen(
        [sys.executable, "-m", "crisptree.envs.workers", env_id, path, *numbers],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def _end(workers: list[subprocess.Popen]) -> None:
    """Without an input a worker ends by itself."""
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.close()
    for worker in workers:
        assert worker.stdout is not None
        worker.wait()
        worker.stdout.close()


def work(env_id: str, path: str, first: int, count: int, n: int, f: int) -> None:
    """The worker: environments `first` … `first + count - 1`, until the input ends."""
    said = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever an environment prints is no answer
    told: IO[bytes] = os.fdopen(0, "rb", buffering=0)
    with open(path, "r+b") as file:
        board = Board.over(mmap.mmap(file.fileno(), 0), n, f)
    mine = slice(first, first + count)
    try:
        envs = GymnasiumEnvs(env_id, count)
    except CrisptreeError:
        said.write(REFUSED)
        return
    said.write(READY)
    while told.read(1):
        if board.seed >= 0:
            board.observation[mine] = envs.reset(int(board.seed) + first)
        else:
            at = envs.step(board.action[mine])
            for view, part in zip(board[2:], at[:5], strict=True):
                view[mine] = part
        said.write(DONE)
    envs.close()


if __name__ == "__main__":
    work(sys.argv[1], sys.argv[2], *(int(number) for number in sys.argv[3:]))
