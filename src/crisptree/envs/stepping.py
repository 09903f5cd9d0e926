"""Steps of several environments: in one loop, or in threads where steps mostly wait.

An environment that asks a device, a server or another program waits most of the time. Its steps
then run in threads, one for each environment, with the same results. Steps that compute stay in
one loop, since Python's threads do not compute at the same time.
"""

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium as gym

TIMED = 2
"""Steps that are timed to see whether the environment waits."""
LEAST_WAIT = 2e-3
"""A shorter step, in seconds, gains nothing from threads."""
BUSY = 0.3
"""A step waits if it computes for less than this share of its time."""


class Stepping:
    """Steps and resets environments; the first steps are timed to choose a loop or threads."""

    def __init__(self, most: int) -> None:
        self._most, self._timed = most, 0
        self._lasted, self._worked, self._paused = 0.0, 0.0, 0
        self._threads: ThreadPoolExecutor | None = None

    @property
    def waits(self) -> bool:
        """Whether steps were seen to wait."""
        return self._threads is not None

    def steps(self, envs: Sequence[gym.Env], actions: Iterable[Any]) -> list[Any]:
        """What each environment answers to its action."""
        calls = list(zip(envs, actions, strict=True))
        if self._timed >= TIMED:
            return self._every(_step, calls)
        done = []
        while self._timed < TIMED and len(done) < len(calls):
            done.append(self._timed_step(calls[len(done)]))
        return done + self._every(_step, calls[len(done) :])

    def resets(self, envs: Sequence[gym.Env], seeds: Sequence[int | None]) -> list[Any]:
        """The first observation of each environment, reset with its seed."""
        return self._every(_reset, list(zip(envs, seeds, strict=True)))

    def _every(self, function: Callable[[Any], Any], calls: Sequence[Any]) -> list[Any]:
        if self._threads is None:
            return [function(call) for call in calls]
        return list(self._threads.map(function, calls))

    def _timed_step(self, call: tuple[gym.Env, Any]) -> Any:
        began, worked, pauses = time.perf_counter(), time.thread_time(), _pauses()
        found = _step(call)
        self._worked += time.thread_time() - worked
        self._lasted += time.perf_counter() - began
        self._paused += _pauses() > pauses
        self._timed += 1
        if self._timed == TIMED and self._most > 1 and self._paused == TIMED:
            is_long = self._lasted >= TIMED * LEAST_WAIT
            if is_long and self._worked < BUSY * self._lasted:
                self._threads = ThreadPoolExecutor(self._most, "crisptree-env")
        return found

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None


def _pauses() -> float:
    """How often this thread has waited. Being interrupted on a busy machine does not count."""
    if sys.platform != "linux":
        return time.perf_counter()  # nobody counts here: every step may have waited
    import resource

    return float(resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw)


def _step(call: tuple[gym.Env, Any]) -> Any:
    env, action = call
    return env.step(action)


def _reset(call: tuple[gym.Env, int | None]) -> Any:
    env, seed = call
    return env.reset(seed=seed)[0]
