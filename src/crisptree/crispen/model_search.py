"""Local search for the best tree where the environment's model is known: every return is exact.

A change of the tree changes the actions of some states. To first order it gains the sum of their
advantages, each weighted by how often the state is met: of all changes of all nodes these sums
follow from sorting and adding up. The most promising ones are computed exactly, and the best is
made. Where nothing helps any more, a part of the tree is cut away and grows again.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

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
from crisptree.learn.exact_model import ExactModel

TRIED = 24
"""Most changes that are computed exactly, of each way to rank them, before the search gives up."""
AT_ONCE = 6
"""Changes that are compared before one is made."""
PATIENCE = 400
"""Cuts in a row that led to nothing better, after which the search ends."""
SLACK = 0.2
"""How much worse a tree may be to be looked at further, as a share of the way to the optimum."""
RETURN = 10
"""Cuts in a row that led to nothing better, after which the search goes back to the best tree."""
TOLERANCE = 1e-9
"""Gains below this share of the return do not count."""


@dataclass(order=True, frozen=True)
class Change:
    """Another part in the place of a node, and about what that gains."""

    gain: float
    path: Path = field(compare=False)
    part: Draft = field(compare=False)


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
        """`optimal` is what the best policy does in each state."""
        self._model, self._most, self._rng, self._is_late = model, most_leaves, rng, is_late
        self.optimum = model.mean_of(optimal)
        self._least = TOLERANCE * max(1.0, abs(self.optimum))
        self._ideal = self._advantages(optimal)

    def run(
        self,
        starts: Sequence[Draft],
        report: Callable[[float, Best], object] = lambda done, b: None,
    ) -> Best:
        """The best tree that was found from any start; of equals, one with few leaves."""
        first = max(map(self._judged, starts), key=lambda each: each.mean)
        climbed = first if self.is_optimal(first) else self._best_climb(starts)
        best = self._smaller(climbed)
        current, idle = best, 0
        while idle < PATIENCE and not self._is_late() and not self.is_optimal(best):
            report(idle / PATIENCE, best)
            other = self._smaller(self._climbed(self._shaken(current.draft)))
            idle += 1
            if other.mean > best.mean + self._least:
                best, idle = other, 0
            # A little worse is a place to look from as well; from time to time back to the best.
            is_near = other.mean >= best.mean - SLACK * (self.optimum - best.mean)
            current = other if is_near else best if idle % RETURN == 0 else current
        return best

    def is_optimal(self, best: Best) -> bool:
        """Whether no policy earns more, trees or not."""
        return best.mean >= self.optimum - self._least

    def _best_climb(self, starts: Sequence[Draft]) -> Best:
        return max(map(self._climbed, starts), key=lambda each: each.mean)

    def _climbed(self, draft: Draft) -> Best:
        """The draft after changes that each gain something, until none does."""
        best = self._judged(draft)
        while not self._is_late() and not self.is_optimal(best):
            better = self._step(best)
            if better is None:
                break
            best = better
        return best

    def _step(self, best: Best) -> Best | None:
        """A change that gains: the best of the first few promising ones of which any does."""
        actions = actions_of(best.draft, self._model.observations)
        own, ideal = (
            heapq.nlargest(TRIED, self._changes(best.draft, actions, advantages))
            for advantages in (self._advantages(actions), self._ideal)
        )
        ranked = [each for pair in zip_longest(own, ideal) for each in pair if each is not None]
        for at in range(0, len(ranked), AT_ONCE):
            few = ranked[at : at + AT_ONCE]
            tried = [self._judged(replaced(best.draft, each.path, each.part)) for each in few]
            found = max(tried, key=lambda each: each.mean)
            if found.mean > best.mean + self._least:
                return found
        return None

    def _judged(self, draft: Draft) -> Best:
        return Best(draft, self._model.mean_of(actions_of(draft, self._model.observations)))

    def _advantages(self, actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """What each action gains over the policy's own, times the visits: `(states, actions)`."""
        values = self._model.values(actions)
        gained = self._model.q_values(values) - values[:, None]
        return gained * self._model.visits(actions)[:, None]

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
                yield from _other_actions(path, part, gained)
                if has_room:
                    yield from _new_splits(path, states[rows], gained)
            else:
                yield from _other_questions(path, part, states[rows], gained)

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

    def _smaller(self, best: Best) -> Best:
        """Without the questions that gain nothing."""
        states = self._model.observations
        for path, part, rows in list(parts(best.draft, states, np.arange(len(states))))[::-1]:
            if isinstance(part, Split):
                for kept in (part.if_true, part.if_false):
                    other = self._judged(replaced(best.draft, path, kept))
                    if not len(rows) or other.mean >= best.mean - self._least / 10:
                        return self._smaller(Best(other.draft, other.mean))
        return best


def _other_actions(path: Path, leaf: Leaf, gained: NDArray) -> Iterator[Change]:
    for action, gain in enumerate(gained.sum(0)):
        if action != leaf.action:
            yield Change(float(gain), path, Leaf(action))


def _new_splits(path: Path, states: NDArray, gained: NDArray) -> Iterator[Change]:
    """A question in the place of a leaf, with the best action on either side."""
    for feature, thresholds, below in _sums_below(states, gained):
        above = gained.sum(0) - below
        gains = below.max(1) + above.max(1)
        for at in np.argsort(-gains)[:TRIED]:
            if_true, if_false = int(above[at].argmax()), int(below[at].argmax())
            if if_true != if_false:
                part = Split(feature, float(thresholds[at]), Leaf(if_true), Leaf(if_false))
                yield Change(float(gains[at]), path, part)


def _other_questions(path: Path, part: Split, states: NDArray, gained: NDArray) -> Iterator[Change]:
    """Another question with the same answers, either way round, or no question at all."""
    rows = np.arange(len(states))
    answers = [gained[rows, actions_of(each, states)] for each in (part.if_true, part.if_false)]
    both = np.stack(answers, 1)
    total = both.sum(0)
    yield Change(float(total[0]), path, part.if_true)
    yield Change(float(total[1]), path, part.if_false)
    for feature, thresholds, below in _sums_below(states, both):
        straight = total[0] - below[:, 0] + below[:, 1]
        turned = total[1] - below[:, 1] + below[:, 0]
        ways = ((straight, part.if_true, part.if_false), (turned, part.if_false, part.if_true))
        for gains, if_true, if_false in ways:
            for at in np.argsort(-gains)[:TRIED]:
                other = Split(feature, float(thresholds[at]), if_true, if_false)
                if other != part:
                    yield Change(float(gains[at]), path, other)


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
