"""Local search for the best tree where the environment's model is known: every return is exact.

A change of the tree changes the actions of some states. To first order it gains the sum of their
advantages, each weighted by how often the state is visited; sorting and cumulative sums give these
for all changes of all nodes. The most promising changes are computed exactly, and the best is made.
If nothing helps, a part of the tree is cut away and grows again, or is drawn anew.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest

import numpy as np
from numpy.typing import NDArray

from crisptree.crispen.draft import (
    Draft,
    Leaf,
    Path,
    Split,
    actions_of,
    n_leaves,
    parts,
    replaced,
)
from crisptree.crispen.fit_optimal import optimal_draft
from crisptree.learn.exact_model import ExactModel
from crisptree.learn.long_run import Standing, Standings

TRIED = 24
"""Most changes computed exactly for each ranking before the search gives up."""
AT_ONCE = 6
"""Changes that are compared before one is made."""
PATIENCE = 400
"""Cuts in a row without a gain after which the search ends."""
SLACK = 0.2
"""A tree this much worse, as a share of the way to the optimum, is still searched further."""
RETURN = 10
"""Cuts in a row without a gain after which the search goes back to the best tree."""
FEW_BOXES = 3_000
"""Most boxes of a part that is drawn anew."""
TOLERANCE = 1e-9
"""Gains below this share of the return do not count."""


Gained = tuple[float, Draft]
"""The estimated gain of a part in the place of another one."""


@dataclass(order=True, frozen=True)
class Change:
    """Another part in the place of a node, with its estimated gain."""

    gain: float
    path: Path = field(compare=False)
    part: Draft = field(compare=False)
    rows: NDArray[np.int64] = field(compare=False)
    """The states that reach the node."""


@dataclass(frozen=True)
class Best:
    draft: Draft
    mean: float


class ModelSearch:
    """Looks for the best tree of at most `most_leaves` leaves."""

    def __init__(
        self,
        model: ExactModel,
        optimal: NDArray[np.int64],
        most_leaves: int,
        rng: np.random.Generator,
        is_late: Callable[[], bool] = lambda: False,
    ) -> None:
        """`optimal` are the best policy's actions in each state."""
        self._model, self._most, self._rng, self._is_late = model, most_leaves, rng, is_late
        self._standings = Standings(model)
        best = self._standings.of(optimal)
        self.optimum, self._highest = model.mean_of(optimal), best.mean
        self._least = TOLERANCE * max(1.0, abs(self.optimum))
        self._ideal = self._advantages(best)

    def run(
        self,
        starts: Sequence[Draft],
        report: Callable[[float, Best], object] = lambda done, b: None,
    ) -> Best:
        """The best tree from any start; of equals, one with few leaves. Its mean is exact; during
        the search, trees are compared without the time limit where that is exact enough."""
        first = max(map(self._judged, starts), key=lambda each: each.mean)
        climbed = first if self._cannot_gain(first) else self._best_climb(starts)
        best = self._smaller(climbed)
        current, idle = best, 0
        while idle < PATIENCE and not self._is_late() and not self._cannot_gain(best):
            report(idle / PATIENCE, best)
            changed = (self._shaken, self._redrawn)[idle % 2](current.draft)
            other = self._smaller(self._climbed(changed))
            idle += 1
            if other.mean > best.mean + self._least:
                best, idle = other, 0
            # Search from slightly worse trees too, and go back to the best from time to time.
            is_near = other.mean >= best.mean - SLACK * (self._highest - best.mean)
            current = other if is_near else best if idle % RETURN == 0 else current
        return Best(best.draft, self._model.mean_of(self._actions(best.draft)))

    def is_optimal(self, best: Best) -> bool:
        """Whether no policy earns more, trees or not; `best` is what `run` returned."""
        return best.mean >= self.optimum - self._least

    def _cannot_gain(self, best: Best) -> bool:
        return best.mean >= self._highest - self._least

    def _best_climb(self, starts: Sequence[Draft]) -> Best:
        return max(map(self._climbed, starts), key=lambda each: each.mean)

    def _climbed(self, draft: Draft) -> Best:
        """The draft after changes that each gain something, until none does."""
        best = self._judged(draft)
        while not self._is_late() and not self._cannot_gain(best):
            better = self._step(best)
            if better is None:
                break
            best = better
        return best

    def _step(self, best: Best) -> Best | None:
        """The best of the first few promising changes that gain something."""
        actions = self._actions(best.draft)
        standing = self._standings.of(actions)
        own, ideal = (
            heapq.nlargest(TRIED, self._changes(best.draft, actions, advantages))
            for advantages in (self._advantages(standing), self._ideal)
        )
        ranked = [each for pair in zip_longest(own, ideal) for each in pair if each is not None]
        for at in range(0, len(ranked), AT_ONCE):
            few = ranked[at : at + AT_ONCE]
            means = [self._mean_with(standing, each.rows, each.part) for each in few]
            at_best = int(np.argmax(means))
            if means[at_best] > best.mean + self._least:
                made = few[at_best]
                return Best(replaced(best.draft, made.path, made.part), means[at_best])
        return None

    def _actions(self, draft: Draft) -> NDArray[np.int64]:
        return actions_of(draft, self._model.observations)

    def _judged(self, draft: Draft) -> Best:
        return Best(draft, self._standings.of(self._actions(draft)).mean)

    def _mean_with(self, standing: Standing, rows: NDArray[np.int64], part: Draft) -> float:
        """The mean return where the states `rows` are answered by another part."""
        return standing.mean_with(rows, actions_of(part, self._model.observations[rows]))

    def _advantages(self, standing: Standing) -> NDArray[np.float64]:
        """What each action gains over the policy's own, times the visits: `(states, actions)`."""
        values = standing.values
        gained = self._model.q_values(values) - values[:, None]
        return gained * standing.visits[:, None]

    def _changes(
        self, draft: Draft, actions: NDArray[np.int64], advantages: NDArray[np.float64]
    ) -> Iterator[Change]:
        """Every change of a node, with what it gains to first order."""
        states = self._model.observations
        has_room = n_leaves(draft) < self._most
        own = advantages[np.arange(len(actions)), actions]
        for path, part, rows in parts(draft, states, np.arange(len(states))):
            if not len(rows):
                continue
            gained = advantages[rows] - own[rows, None]
            if isinstance(part, Leaf):
                found = _other_actions(part, gained)
                if has_room:
                    found = chain(found, _new_splits(states[rows], gained))
            else:
                found = _other_questions(part, states[rows], gained)
            yield from (Change(gain, path, other, rows) for gain, other in found)

    def _shaken(self, draft: Draft) -> Draft:
        """One, two or three questions give way to one of their answers."""
        states = self._model.observations
        for _ in range(int(self._rng.integers(1, 4))):
            every = [
                (path, part)
                for path, part, _ in parts(draft, states, np.arange(len(states)))
                if isinstance(part, Split)
            ]
            if not every:
                break
            path, part = every[int(self._rng.integers(len(every)))]
            kept = part.if_true if self._rng.random() < 0.5 else part.if_false
            draft = replaced(draft, path, kept)
        return draft

    def _redrawn(self, draft: Draft) -> Draft:
        """A part of the tree is drawn anew, as the best one for what actions gain to first order,
        under visits that are a little different each time."""
        states = self._model.observations
        every = [
            each
            for each in parts(draft, states, np.arange(len(states)))
            if isinstance(each[1], Split) and len(each[2]) > 1
        ]
        if not every:
            return draft
        path, part, rows = every[int(self._rng.integers(len(every)))]
        own = self._advantages(self._standings.of(self._actions(draft)))
        gained = (own if self._rng.random() < 0.5 else self._ideal)[rows]
        costs = (gained.max(1, keepdims=True) - gained) * self._rng.exponential(size=(len(rows), 1))
        room = self._most - n_leaves(draft) + n_leaves(part)
        drawn = optimal_draft(states[rows], costs, room, self._is_late, FEW_BOXES)
        return self._shaken(draft) if drawn is None else replaced(draft, path, drawn)

    def _smaller(self, best: Best) -> Best:
        """The draft without questions that gain nothing."""
        states, standing = self._model.observations, self._standings.of(self._actions(best.draft))
        for path, part, rows in list(parts(best.draft, states, np.arange(len(states))))[::-1]:
            if isinstance(part, Split):
                for kept in (part.if_true, part.if_false):
                    mean = self._mean_with(standing, rows, kept)
                    if not len(rows) or mean >= best.mean - self._least / 10:
                        return self._smaller(Best(replaced(best.draft, path, kept), mean))
        return best


def _other_actions(leaf: Leaf, gained: NDArray) -> Iterator[Gained]:
    for action, gain in enumerate(gained.sum(0)):
        if action != leaf.action:
            yield float(gain), Leaf(action)


def _new_splits(states: NDArray, gained: NDArray) -> Iterator[Gained]:
    """A question in the place of a leaf, with the best action on either side."""
    for feature, thresholds, below in _sums_below(states, gained):
        above = gained.sum(0) - below
        gains = below.max(1) + above.max(1)
        for at in np.argsort(-gains)[:TRIED]:
            if_true, if_false = int(above[at].argmax()), int(below[at].argmax())
            if if_true != if_false:
                part = Split(feature, float(thresholds[at]), Leaf(if_true), Leaf(if_false))
                yield float(gains[at]), part


def _other_questions(part: Split, states: NDArray, gained: NDArray) -> Iterator[Gained]:
    """Another question with the same answers, either way round, or no question at all."""
    rows = np.arange(len(states))
    answers = [gained[rows, actions_of(each, states)] for each in (part.if_true, part.if_false)]
    both = np.stack(answers, 1)
    total = both.sum(0)
    yield float(total[0]), part.if_true
    yield float(total[1]), part.if_false
    for feature, thresholds, below in _sums_below(states, both):
        straight = total[0] - below[:, 0] + below[:, 1]
        turned = total[1] - below[:, 1] + below[:, 0]
        ways = ((straight, part.if_true, part.if_false), (turned, part.if_false, part.if_true))
        for gains, if_true, if_false in ways:
            for at in np.argsort(-gains)[:TRIED]:
                other = Split(feature, float(thresholds[at]), if_true, if_false)
                if other != part:
                    yield float(gains[at]), other


def _sums_below(
    states: NDArray, amounts: NDArray
) -> Iterator[tuple[int, NDArray[np.float32], NDArray[np.float64]]]:
    """For each feature the thresholds between its values, and the sums of `amounts` up to each."""
    for feature in range(states.shape[1]):
        order = np.argsort(states[:, feature], kind="stable")
        values = states[order, feature]
        ends = np.flatnonzero(values[1:] > values[:-1])
        if len(ends):
            middles = ((values[ends].astype(np.float64) + values[ends + 1]) / 2).astype(np.float32)
            yield feature, middles, np.cumsum(amounts[order], 0)[ends]
