"""Choosing among crisp trees by return, on episodes that are never reported."""

import copy
import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.crispen.pace import Pace, Timetable
from crisptree.envs.gymnasium_envs import step_limit
from crisptree.envs.play import Rollouts
from crisptree.envs.registry import twin_of
from crisptree.envs.rollout import rollout
from crisptree.envs.seeds import block_seed
from crisptree.envs.task import Task
from crisptree.learn.exact_model import ExactModel

CAREFUL = 2**32
"""The distance between the seeds of two streams of selection episodes."""
FEW = 16
"""Episodes that are played instead if there was no time for all: of many, those that end first are
not typical."""
HOPE = 0.5
"""A tree may be this many standard errors behind and still race on."""
CLEAR = 4.0
"""A tree this many standard errors ahead is certainly better: the race ends."""
ENOUGH = 3
"""Rounds before which nothing is certain."""


class Lead(NamedTuple):
    """How far a tree is ahead of another one, on the same episodes."""

    which: int
    """Its number among those that raced."""
    gain: float
    doubt: float
    """The standard error of the gain."""


class Selection:
    """A stream of selection episodes; every call sees fresh ones.

    `scale` multiplies all counts of episodes: slow environments choose by fewer. Where the
    environment carries its model (`model`), one exact mean stands for all episodes. `times` says
    until when episodes are played, and `pace` how many there is time for.
    """

    def __init__(
        self,
        task: Task,
        seed: int,
        scale: float = 1.0,
        model: ExactModel | None = None,
        times: Timetable | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.task, self._seed, self._calls, self._scale = task, seed, 0, scale
        self._model, self._times = model, times or Timetable()
        self._pace = pace or Pace()
        self._careful: Selection | None = None

    def scaled(self, episodes: int, least: int = 2) -> int:
        """How many episodes are played where `episodes` are asked for, `least` at least."""
        return max(least, math.ceil(episodes * self._scale))

    def careful(self) -> "Selection":
        """A stream of other episodes, whose counts shrink more slowly with the scale: for a final
        choice among few trees."""
        if self._careful is None:
            self._careful = other = copy.copy(self)
            other._seed, other._calls = self._seed + CAREFUL, 0
            other._scale = max(self._scale, math.sqrt(self._scale))
        return self._careful

    @property
    def episode_length(self) -> float:
        """Steps of an episode, as played last; as expected if none was played."""
        return self._pace.episode_length

    def until(self) -> float:
        """When playing that begins now must be over."""
        return self._times.until()

    def affords(self, n_trees: int, episodes: int) -> bool:
        """Whether there is time for so many trees to play `episodes` each, scaled."""
        return self._fitting(n_trees, self.scaled(episodes)) >= self.scaled(episodes)

    def is_compiled(self) -> bool:
        """Whether episodes are compiled whole: then they cost next to nothing."""
        return self._model is None and twin_of(self.task) is not None

    def is_quick(self, episodes: int) -> bool:
        """Whether as many episodes, scaled, take no longer than a choice may, at the pace of those
        played before."""
        return self._pace.seconds(self.scaled(episodes)) <= self._times.allowed()

    def returns(
        self,
        trees: Sequence[CrispTree],
        episodes: int,
        least: int = 2,
        most: int | None = None,
    ) -> np.ndarray:
        """Returns `(trees, episodes)` of `least` to `most` episodes, the same for each tree, so
        that differences are less noisy. Fewer are played if there is no time for all; if time ran
        out, only episodes that all trees finished count."""
        if self._model is not None:
            return np.array([[self._model.mean_return(tree)] for tree in trees])
        asked = self.scaled(episodes, least)
        asked = asked if most is None else min(asked, most)
        count = max(1, self._fitting(len(trees), asked))
        played = self._play(trees, count)
        if self._unfinished(played).any():
            fewer = min(FEW, self._fitting(len(trees), count))
            if 0 < fewer < count:
                played = self._play(trees, fewer)
        return self._comparable(played)

    def fresh(self, episodes: int) -> range:
        """The seeds of as many episodes, scaled, that nobody has played."""
        self._calls += 1
        count = self.scaled(episodes)
        first = block_seed("selection", count, self._seed, self._calls)
        return range(first, first + count)

    def returns_on(self, trees: Sequence[CrispTree], seeds: Sequence[int]) -> np.ndarray | None:
        """Returns `(trees, seeds)` of these very episodes; None if time ran out."""
        played = self._played(trees, seeds)
        return None if self._unfinished(played).any() else played.returns

    def _fitting(self, n_trees: int, count: int) -> int:
        """How many of `count` episodes there is time for, for each tree."""
        allowed = self._times.allowed()
        # A compiled twin is fast; most of its time is compiling.
        if self._model is not None or allowed == math.inf or twin_of(self.task) is not None:
            return count
        count = min(count, FEW) if self._times.is_over() else count
        each = self._pace.seconds(n_trees)
        return count if each * count <= allowed else int(allowed / each)

    def _play(self, trees: Sequence[CrispTree], count: int) -> Rollouts:
        self._calls += 1
        first = block_seed("selection", count, self._seed, self._calls)
        return self._played(trees, range(first, first + count))

    def _played(self, trees: Sequence[CrispTree], seeds: Sequence[int]) -> Rollouts:
        began = time.monotonic()
        played = rollout(trees, self.task, seeds, fast=True, deadline=self.until())
        is_whole = not self._unfinished(played).any()
        self._pace.note(played, time.monotonic() - began, is_whole)
        return played

    def _unfinished(self, played: Rollouts) -> np.ndarray:
        """Which episodes were cut for lack of time."""
        return played.was_cut & (played.lengths < step_limit(self.task))

    def _comparable(self, played: Rollouts) -> np.ndarray:
        """Returns of the episodes that every tree finished; if there are none, of the parts played,
        which are equally long; zeros if some were not begun."""
        finished = ~self._unfinished(played).any(0)
        if finished.any():
            return played.returns[:, finished]
        return played.returns if played.lengths.all() else np.zeros_like(played.returns)

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
        """The trees of the last round of the race with their means, the best first; of equals, the
        earlier.

        If there is no time for an episode of each, only the first trees race.
        """
        most = max(1, self._fitting(1, len(trees)))
        alive = list(range(min(most, len(trees))))
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

    def beats(self, other: CrispTree, tree: CrispTree, rounds: Sequence[int]) -> tuple[bool, float]:
        """Whether `other` earns more than `tree`, and what the better one earned.

        Both play the same episodes, as long as the other is ahead after each round. A lead that
        may well be luck does not count: of many changes that are worth nothing, half would be
        made, and most of these cost something.
        """
        played, gains = np.zeros((2, 0)), np.zeros(1)
        for episodes in rounds:
            played = np.concatenate([played, self.returns([tree, other], episodes)], 1)
            gains = played[1] - played[0]
            if gains.mean() <= 0:
                break
        is_ahead = bool(gains.mean() > HOPE * gains.std() / math.sqrt(len(gains)))
        return is_ahead, float(played[int(is_ahead)].mean())

    def ahead(
        self, tree: CrispTree, others: Sequence[CrispTree], rounds: Sequence[int], keep: float = 0.5
    ) -> list[Lead]:
        """The others that earn more than the tree, the best first.

        All play the same episodes, so few are needed if a change makes little difference. After
        each round only those race on that are not clearly behind the tree, and of these the best: a
        share that shrinks from round to round, but at least two.
        """
        leads, gains = [], np.zeros((len(others), 0))
        alive = list(range(len(others)))
        for number, episodes in enumerate(rounds, 1):
            played = self.returns([tree, *(others[i] for i in alive)], episodes)
            gains = np.concatenate([gains, played[1:] - played[0]], 1)
            doubts = gains.std(1) / math.sqrt(gains.shape[1])
            means = gains.mean(1)
            differs = gains.any(1) | (number < ENOUGH)
            hopeful = np.flatnonzero((means >= -HOPE * doubts) & differs)
            order = hopeful[np.argsort(-means[hopeful], kind="stable")]
            if number < len(rounds):
                order = order[: max(2, math.ceil(len(others) * keep**number))]
            alive, gains = [alive[i] for i in order], gains[order]
            figures = zip(alive, means[order], doubts[order], strict=True)
            leads = [Lead(i, float(gain), float(doubt)) for i, gain, doubt in figures]
            is_clear = bool(leads) and leads[0].gain > CLEAR * leads[0].doubt
            if not leads or (is_clear and number >= ENOUGH):
                break
        return [lead for lead in leads if lead.gain > HOPE * lead.doubt]
