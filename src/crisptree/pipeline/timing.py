"""Trainings that keep their time: a schedule is shortened where it would end too late."""

import time
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

SLACK = 1.15
"""How much too long a schedule may be before it is shortened."""


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
