"""The optimal tree for given costs, by dynamic programming, where states are few.

A node is reached by a box of states. The best tree for a box and a number of leaves is one leaf, or
the best question with the best trees for its two sides; each box is solved once. Unlike greedy
growing, this considers all questions together, but the number of boxes limits the size of the
problem.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.crispen.draft import Draft, Leaf, Split

NOTHING = 1e-9
"""Costs below this share of all costs count as none."""
MOST_BOXES = 100_000
DEEPEST = 200
"""Most questions on a path, since each is a nested call."""


class _Question(NamedTuple):
    feature: int
    threshold: float
    below: bytes
    above: bytes
    n_below: int
    """Leaves that the side below gets."""


class _Box(NamedTuple):
    action: int
    """The best action of a single leaf."""
    costs: NDArray[np.float64]
    """What the best tree of at most k leaves costs, for each k from 0 on."""
    questions: list[_Question | None]
    """The root of that tree; None for a leaf."""


class _LateError(Exception):
    """The time is up."""


class _Boxes:
    def __init__(
        self,
        states: NDArray,
        costs: NDArray[np.float64],
        n_leaves: int,
        is_late: Callable[[], bool],
    ) -> None:
        self._states, self._costs, self._n = states, costs, n_leaves
        self._least = costs.min(1)
        self._nothing = NOTHING * max(float(costs.sum()), 1e-300)
        self._is_late = is_late
        self._known: dict[bytes, _Box] = {}
        left = np.arange(n_leaves + 1)[:, None] - np.arange(n_leaves + 1)
        self._others = np.where(left > 0, left, 0)  # no tree has 0 leaves

    def solved(self, rows: NDArray[np.int32]) -> _Box:
        key = rows.tobytes()
        found = self._known.get(key)
        if found is None:
            if self._is_late():
                raise _LateError
            found = self._known[key] = self._solve(rows)
        return found

    def _solve(self, rows: NDArray[np.int32]) -> _Box:
        total = self._costs[rows].sum(0)
        action = int(total.argmin())
        costs = np.full(self._n + 1, float(total[action]))
        costs[0] = np.inf
        questions: list[_Question | None] = [None] * (self._n + 1)
        if total[action] - self._least[rows].sum() <= self._nothing:
            return _Box(action, costs, questions)
        for feature in range(self._states.shape[1]):
            values = self._states[rows, feature]
            kinds = np.unique(values)
            for low, high in pairwise(kinds):
                is_below = values <= low
                sides = rows[is_below], rows[~is_below]
                below, above = map(self.solved, sides)
                together = below.costs[None, :] + above.costs[self._others]
                best = together.argmin(1)
                every = together[np.arange(self._n + 1), best]
                threshold = (float(low) + float(high)) / 2
                for k in np.flatnonzero(every < costs - self._nothing).tolist():
                    costs[k] = every[k]
                    ends = sides[0].tobytes(), sides[1].tobytes()
                    questions[k] = _Question(feature, threshold, *ends, int(best[k]))
        return _Box(action, costs, questions)

    def draft(self, key: bytes, k: int) -> Draft:
        """The best tree of at most `k` leaves for a box that is solved."""
        box = self._known[key]
        asked = box.questions[k]
        if asked is None:
            return Leaf(box.action)
        threshold = float(np.float32(asked.threshold))
        if_true = self.draft(asked.above, k - asked.n_below)
        return Split(asked.feature, threshold, if_true, self.draft(asked.below, asked.n_below))


def optimal_draft(
    states: NDArray,
    costs: NDArray[np.float64],
    n_leaves: int,
    is_late: Callable[[], bool] = lambda: False,
    most_boxes: int = MOST_BOXES,
) -> Draft | None:
    """The tree of at most `n_leaves` leaves that costs least; None if there are too many boxes, or
    if `is_late` before it is found. `costs` are those of each action in each state."""
    sizes = [len(np.unique(column)) for column in states.T]
    n_boxes = math.prod(size * (size + 1) // 2 for size in sizes)
    if n_boxes > most_boxes or sum(sizes) > DEEPEST:
        return None
    boxes = _Boxes(states, costs, n_leaves, is_late)
    every = np.arange(len(states), dtype=np.int32)
    try:
        boxes.solved(every)
    except _LateError:
        return None
    return boxes.draft(every.tobytes(), n_leaves)
