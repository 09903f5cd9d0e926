"""Choosing among crisp trees by return, on episodes that are never reported."""

import math
import time
from collections.abc import Sequence

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.envs.gymnasium_envs import step_limit
from crisptree.envs.play import Rollouts
from crisptree.envs.rollout import rollout
from crisptree.envs.seeds import block_seed
from crisptree.envs.task import Task
from crisptree.learn.exact_model import ExactModel

GRACE = 1.0
"""Seconds for what begins when the time is up already."""
FEW = 16
"""Episodes that are played where there was no time for all: those that end first are not like the
others, so that some of many would mislead."""


class Selection:
    """A stream of selection episodes; every call sees fresh ones.

    `scale` multiplies all counts of episodes: slow environments choose by fewer. Where the
    environment carries its model (`model`), one exact mean stands for all episodes. `end`, on
    `time.monotonic`'s clock, is when all must be over.
    """

    def __init__(
        self,
        task: Task,
        seed: int,
        scale: float = 1.0,
        model: ExactModel | None = None,
        end: float = math.inf,
    ) -> None:
        self.task, self._seed, self._calls, self._scale = task, seed, 0, scale
        self._model, self._end = model, end

    def scaled(self, episodes: int, least: int = 2) -> int:
        """How many episodes are played where `episodes` are asked for, `least` at least."""
        return max(least, math.ceil(episodes * self._scale))

    def returns(self, trees: Sequence[CrispTree], episodes: int, least: int = 2) -> np.ndarray:
        """Returns `(trees, episodes)`. The same episodes for each tree: differences between trees
        are then less noisy. Where the time ended first, only episodes that all trees finished."""
        if self._model is not None:
            return np.array([[self._model.mean_return(tree)] for tree in trees])
        count, limit = self.scaled(episodes, least), step_limit(self.task)
        is_up = time.monotonic() >= self._end
        played = self._play(trees, min(count, FEW) if is_up else count)
        if not is_up and count > FEW and _unfinished(played, limit).any():
            played = self._play(trees, FEW)
        return _comparable(played, limit)

    def _play(self, trees: Sequence[CrispTree], count: int) -> Rollouts:
        self._calls += 1
        first = block_seed("selection", count, self._seed, self._calls)
        seeds = range(first, first + count)
        return rollout(trees, self.task, seeds, fast=True, deadline=with_grace(self._end))

    def mean(self, tree: CrispTree, episodes: int) -> float:
        """The mean return of one tree."""
        return float(self.returns([tree], episodes).mean())

    def race(
        self, trees: Sequence[CrispTree], rounds: Sequence[int] = (16, 32, 64), keep: float = 1 / 3
    ) -> tuple[int, float]:
        """Successive halving: the index of the best tree and its mean return over all rounds."""
        return self.finalists(trees, rounds, keep)[0]

    def finalists(
        self, trees: Sequence[CrispTree], rounds: Sequence[int], keep: float = 1 / 3
    ) -> list[tuple[int, float]]:
        """Who ran the last round of the race, the best first; of equals, the earlier."""
        alive = list(range(len(trees)))
        sums, counts = np.zeros(len(trees)), np.zeros(len(trees))
        for number, episodes in enumerate(rounds):
            if number > 0:
                alive = alive[: max(1, int(np.ceil(len(alive) * keep)))]
            played = self.returns([trees[i] for i in alive], episodes)
            for i, returns in zip(alive, played, strict=True):
                sums[i] += returns.sum()
                counts[i] += len(returns)
            alive.sort(key=lambda i: (-sums[i] / counts[i], i))
        return [(i, float(sums[i] / counts[i])) for i in alive]


def with_grace(end: float) -> float:
    """The end, or a moment from now where that is past."""
    return max(end, time.monotonic() + GRACE)


def _unfinished(played: Rollouts, limit: int) -> np.ndarray:
    """Which episodes ended for want of time."""
    return played.was_cut & (played.lengths < limit)


def _comparable(played: Rollouts, limit: int) -> np.ndarray:
    """Returns of the episodes that every tree had time for; where there are none, of as much as was
    played, which is as long for each. Nothing can be told where some were not even begun."""
    finished = ~_unfinished(played, limit).any(0)
    if finished.any():
        return played.returns[:, finished]
    return played.returns if played.lengths.all() else np.zeros_like(played.returns)
