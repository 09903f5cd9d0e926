"""How long episodes take, and how many there is time for."""

import math
import time
from dataclasses import dataclass

from crisptree.envs.play import Rollouts

GRACE = 1.0
"""Seconds for a choice that begins when the time is up."""
SHARE = 0.15
"""Share of all the time left that one choice may take."""


@dataclass
class Pace:
    """Steps a second and steps of an episode: as measured at first, then as played last."""

    steps_per_second: float = math.inf
    episode_length: float = 1.0
    waits: bool = False
    """Whether steps wait rather than compute: a few episodes then take as long as many, and do not
    show how long many would take."""

    def seconds(self, episodes: int) -> float:
        """About how long so many episodes take, played side by side."""
        return episodes * self.episode_length / self.steps_per_second

    def note(self, played: Rollouts, seconds: float, is_whole: bool) -> None:
        """Update by episodes that took so many seconds; `is_whole`: none was cut for lack of
        time."""
        steps, length = int(played.lengths.sum()), float(played.lengths.mean())
        if not steps:
            return
        rate, known = steps / max(seconds, 1e-9), self.steps_per_second
        if known == math.inf:
            known = rate
        self.steps_per_second = max(rate, known if self.waits else (rate + known) / 2)
        # It is unknown how long episodes would have lasted that were cut short.
        self.episode_length = length if is_whole else max(2 * length, self.episode_length)


@dataclass(frozen=True)
class Timetable:
    """Deadlines for playing, on `time.monotonic`'s clock."""

    end: float = math.inf
    """When all must be over."""
    deadline: float = math.inf
    """When the stage at work should be over."""

    def allowed(self) -> float:
        """Seconds for one choice: what is left of the stage, or a share of all time left if that is
        more."""
        now = time.monotonic()
        of_stage = min(self.deadline, self.end) - now
        return max(of_stage, SHARE * (self.end - now), GRACE)

    def is_over(self) -> bool:
        return time.monotonic() >= self.end

    def until(self) -> float:
        """When a choice that begins now must be over."""
        return time.monotonic() + self.allowed()
