"""The time: how fast an environment is, how the time is divided, and schedules that are shortened
to end in time."""

import math
import time
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from crisptree.crispen.pace import Pace
from crisptree.envs.task import Task

RESERVED, MOST_RESERVED = 0.12, 0.35
"""Least and greatest share of the budget for what comes after the candidates."""
SCORED, SCORED_AT_ONCE = 4, 64
"""Episodes that this time should suffice for; where steps only wait, many take as long as one."""
UNLIMITED_STEPS = 2_000
"""Assumed steps of an episode where the environment sets no limit."""
SLACK = 1.15
"""A schedule is shortened if it would take this many times the time left."""


@dataclass(frozen=True)
class Measurement:
    """What was measured of an environment before anything was learned."""

    steps_per_second: float
    """Steps a second of one process with many environments and random actions."""
    episode_length: float
    """Steps of an episode, under random actions."""
    waits: bool = False
    """Whether steps wait rather than compute, so that many at once take as long as one."""
    repeats: float = 0.0
    """Share of the last observations that had been seen before."""

    def learned_length(self, most: int | None) -> float:
        """Expected steps of an episode of a policy that has learned something: the geometric mean
        of a random episode and the limit `most`; the limit itself if nothing was measured."""
        if math.isnan(self.episode_length):
            return float(most or UNLIMITED_STEPS)
        return math.sqrt(self.episode_length * (most or self.episode_length))

    def pace(self, most: int | None) -> Pace:
        """How long episodes take, before any was played by a policy."""
        return Pace(self.steps_per_second, self.learned_length(most), self.waits)


@dataclass(frozen=True)
class TimeLeft:
    """The time for all candidates of a seed."""

    minutes: float | None = None
    """Minutes for the stages of one candidate, including those before an interruption."""
    latest: float = math.inf
    """When all candidates must be over, on `time.time`'s clock."""
    reserved: float = math.inf
    """Seconds from then to the end of the budget: to choose among them, and to score."""
    measured: Measurement | None = None

    @staticmethod
    def of(
        budget: float | None, measured: Measurement | None, task: Task, began: float
    ) -> "TimeLeft":
        """The time of a run that began at `began`, on `time.monotonic`'s clock."""
        if budget is None:
            return TimeLeft(measured=measured)
        share = RESERVED
        if measured is not None:
            count = SCORED_AT_ONCE if measured.waits else SCORED
            seconds = measured.pace(task.max_steps).seconds(count)
            share = min(MOST_RESERVED, max(RESERVED, 1.2 * seconds / (60 * budget)))
        end = time.time() + 60 * budget - (time.monotonic() - began)
        reserved = 60 * budget * share
        return TimeLeft(budget * (1 - share), end - reserved, reserved, measured)

    @staticmethod
    def from_dict(data: dict[str, Any]) -> "TimeLeft":
        """From what `asdict` made of it."""
        measured = data["measured"]
        return TimeLeft(**{**data, "measured": measured and Measurement(**measured)})

    def pace(self, task: Task) -> Pace:
        """How long episodes take, as far as was measured."""
        return Pace() if self.measured is None else self.measured.pace(task.max_steps)

    def seconds_to_choose(self) -> float:
        """Seconds for the choice at the end of a leg: half of those reserved, or of those left."""
        left = max(0.0, self.latest + self.reserved - time.time())
        return min(left, self.reserved) / 2


class KeepTime:
    """Called between the segments of a training; see `learn.trainer.Between`.

    The time that updates take is measured from the second segment on, since the first compiles. A
    schedule that would not be done at the deadline is made shorter: what is left of it, all its
    step sizes and steepness, passes in fewer updates. Nothing happens while there is time enough,
    so that what a run learns does not depend on the clock.
    """

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._last: tuple[float, int] | None = None
        self._seconds, self._updates = 0.0, 0

    def __call__(self, states: Any, observations: Any) -> Any:
        now, update = time.monotonic(), int(np.max(states.update))
        if self._last is not None:
            self._seconds += now - self._last[0]
            self._updates += update - self._last[1]
        self._last = now, update
        if self._deadline == float("inf") or not self._updates:
            return states
        affordable = max(1.0, (self._deadline - now) * self._updates / max(self._seconds, 1e-9))
        fraction, n_updates = np.asarray(states.progress), np.asarray(states.n_updates)
        left = (1 - fraction) * n_updates
        if not (left > SLACK * affordable).any():
            return states
        shorter = np.where(
            left > affordable, affordable / np.maximum(1 - fraction, 1e-6), n_updates
        )
        shorter = np.maximum(1, np.round(shorter)).astype(np.int32)
        return eqx.tree_at(
            lambda s: (s.schedule.n_updates, s.schedule.pace_sum),
            states,
            (jnp.asarray(shorter), jnp.asarray(fraction * shorter, jnp.float32)),
        )
