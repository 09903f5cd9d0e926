"""A tree in charge of a plant, for boxes of states: where one step can lead.

A box is cut along the tree's thresholds, so that in every piece one leaf decides, and each piece is
moved by the plant's equations in sound arithmetic. Pieces may overlap; no state is ever lost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.verify.floats import neighbours
from crisptree.verify.forms import FORMS, symbols
from crisptree.verify.intervals import INTERVALS, Interval, interval
from crisptree.verify.plants.plant import Plant

HALVINGS = 8
"""How finely a box is trimmed along a feature that is not a state itself."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """Lower and upper corners, `(N, S)` each."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.low)

    @property
    def boxes(self) -> "Boxes":
        return self

    def take(self, rows: Any) -> "Boxes":
        return Boxes(self.low[rows], self.high[rows])

    @staticmethod
    def joined(parts: "list[Boxes]", n_states: int) -> "Boxes":
        if not parts:
            return Boxes(np.empty((0, n_states)), np.empty((0, n_states)))
        return Boxes(
            np.concatenate([part.low for part in parts]),
            np.concatenate([part.high for part in parts]),
        )


@dataclass(frozen=True)
class Loop:
    """A tree and a plant, with what lies between them."""

    tree: CrispTree
    plant: Plant
    noise: tuple[float, ...] = ()
    """How far each feature may be off when the tree sees it."""
    with_forms: bool = False
    """Whether forms are computed besides intervals: slower, and narrower where numbers
    depend on each other."""

    @cached_property
    def _own_state(self) -> tuple[int, ...]:
        """Of each feature the state it is, or -1 where it is computed."""
        columns = [Interval(0.0, 1.0) for _ in self.plant.states]
        seen = columns
        if self.plant.features is not None:
            seen = self.plant.features(INTERVALS, columns)
        numbers = {id(column): at for at, column in enumerate(columns)}
        return tuple(numbers.get(id(each), -1) for each in seen)

    @property
    def _noise(self) -> tuple[float, ...]:
        return self.noise or (0.0,) * self.tree.n_features

    @property
    def is_exact(self) -> bool:
        """Whether every feature the tree asks about is a state, seen without noise."""
        asked = {visit.feature for visit in self.tree.walk() if not visit.is_leaf}
        return all(self._own_state[each] >= 0 and not self._noise[each] for each in asked)

    def cuts(self) -> list[list[float]]:
        """State by state, where the tree's answer changes."""
        found: list[list[float]] = [[] for _ in self.plant.states]
        for visit in self.tree.walk():
            state = self._own_state[visit.feature] if not visit.is_leaf else -1
            if state >= 0:
                found[state].append(changes_at(visit.threshold, self.plant.observed_as))
        return [sorted(set(each)) for each in found]

    def pieces(self, boxes: Boxes) -> list[tuple[int, Boxes]]:
        """The parts of the boxes that lead to each leaf."""
        waiting, found = [(0, boxes)], []
        while waiting:
            node, boxes = waiting.pop()
            feature, threshold, if_true, if_false = self.tree.nodes[node]
            if not len(boxes):
                continue
            if feature < 0:
                found.append((node, boxes))
                continue
            above, below = self._cut(boxes, feature, threshold)
            waiting += [(if_true, above), (if_false, below)]
        return found

    def _cut(self, boxes: Boxes, feature: int, threshold: float) -> tuple[Boxes, Boxes]:
        """The parts where the node may be TRUE, and where it may be FALSE."""
        state, noise = self._own_state[feature], self._noise[feature]
        if state < 0:
            return self._trimmed(boxes, feature, threshold)
        at = changes_at(threshold, self.plant.observed_as)
        true_from, false_to = at, at
        if noise:
            true_from, false_to = (
                np.nextafter(at - noise, -np.inf),
                np.nextafter(at + noise, np.inf),
            )
        true = boxes.take(boxes.high[:, state] >= true_from)
        false = boxes.take(boxes.low[:, state] <= false_to)
        low, high = true.low.copy(), false.high.copy()
        low[:, state] = np.maximum(low[:, state], true_from)
        high[:, state] = np.minimum(high[:, state], false_to)
        return Boxes(low, true.high), Boxes(false.low, high)

    def _trimmed(self, boxes: Boxes, feature: int, threshold: float) -> tuple[Boxes, Boxes]:
        """The same for a computed feature: what certainly goes the other way is trimmed off."""
        noise = self._noise[feature]

        def seen(boxes: Boxes) -> Interval:
            value = interval(self.plant.observe(INTERVALS, columns_of(boxes))[feature])
            return value + Interval(-noise, noise) if noise else value

        def never_true(boxes: Boxes) -> NDArray[np.bool_]:
            return seen(boxes).high <= threshold

        def never_false(boxes: Boxes) -> NDArray[np.bool_]:
            return seen(boxes).low > threshold

        here = seen(boxes)
        may_be_true, may_be_false = here.high > threshold, here.low <= threshold
        both = may_be_true & may_be_false
        if not both.any():
            return boxes.take(may_be_true), boxes.take(may_be_false)
        split = boxes.take(both)
        true = [boxes.take(may_be_true & ~both), trimmed(split, never_true)]
        false = [boxes.take(may_be_false & ~both), trimmed(split, never_false)]
        n_states = boxes.low.shape[1]
        return Boxes.joined(true, n_states), Boxes.joined(false, n_states)

    def image(self, boxes: Boxes, leaves: set[int] | None = None) -> Boxes:
        """Boxes that hold every state one step after these; the leaves that may decide are added
        to `leaves`."""
        n_states, pieces = boxes.low.shape[1], self.pieces(boxes)
        if leaves is not None:
            leaves.update(leaf for leaf, _ in pieces)
        return Boxes.joined([self.moved(piece, leaf) for leaf, piece in pieces], n_states)

    def moved(self, boxes: Boxes, leaf: int) -> Boxes:
        """Where one step leads if the leaf decides."""
        acting = self.plant.disturbance_box
        given = [Interval(low, high) for low, high in acting]
        state = columns_of(boxes)
        after = self.plant.step(INTERVALS, state, self.action(INTERVALS, state, leaf), given)
        plain = as_bounds(after, len(boxes))
        if not self.with_forms:
            return plain
        n, count = boxes.low.shape
        low = np.concatenate([boxes.low, np.tile(acting[:, 0], (n, 1))], axis=1)
        high = np.concatenate([boxes.high, np.tile(acting[:, 1], (n, 1))], axis=1)
        forms = symbols(low, high)
        state, given = forms[:count], forms[count:]
        with np.errstate(invalid="ignore", over="ignore"):  # such forms have no bounds
            after = self.plant.step(FORMS, state, self.action(FORMS, state, leaf), given)
            formed = as_bounds(after, n)
        return Boxes(np.maximum(plain.low, formed.low), np.minimum(plain.high, formed.high))

    def action(self, xp: Any, state: list[Any], leaf: int) -> Any:
        """A leaf's action in a state: a number, or a sequence of numbers or columns."""
        tree = self.tree
        if tree.actions.kind == "discrete":
            return int(tree.action[leaf])
        if tree.actions.kind == "multi_discrete":
            return tree.action[leaf].tolist()
        values: list[Any] = tree.action[leaf].tolist()
        if tree.gains[leaf]:
            seen = self.plant.observe(xp, state)
            noise = self._noise
            for dimension, feature, weight in tree.gains[leaf]:
                value = seen[feature]
                if noise[feature]:
                    value = value + Interval(-noise[feature], noise[feature])
                values[dimension] = values[dimension] + weight * value
        bounds = zip(values, tree.actions.low, tree.actions.high, strict=True)
        values = [xp.clip(value, low, high) for value, low, high in bounds]
        return [xp.float32(each) for each in values] if tree.actions.dtype == "float32" else values


def trimmed(boxes: Boxes, certainly_not: Callable[[Boxes], NDArray[np.bool_]]) -> Boxes:
    """The boxes without the slabs at their ends where `certainly_not` holds, state by state."""
    low, high = boxes.low.copy(), boxes.high.copy()
    for state in range(low.shape[1]):
        for from_above in (False, True):
            width = high[:, state] - low[:, state]
            if not (width > 0).any():
                continue
            cut, uncut = np.zeros(len(low)), np.ones(len(low))
            for _ in range(HALVINGS):
                share = (cut + uncut) / 2
                slab_low, slab_high = low.copy(), high.copy()
                if from_above:
                    slab_low[:, state] = high[:, state] - share * width
                else:
                    slab_high[:, state] = low[:, state] + share * width
                gone = certainly_not(Boxes(slab_low, slab_high))
                cut, uncut = np.where(gone, share, cut), np.where(gone, uncut, share)
            if from_above:
                high[:, state] = np.where(cut > 0, high[:, state] - cut * width, high[:, state])
            else:
                low[:, state] = np.where(cut > 0, low[:, state] + cut * width, low[:, state])
    return Boxes(low, high)


def columns_of(boxes: Boxes) -> list[Interval]:
    return [Interval(*pair) for pair in zip(boxes.low.T, boxes.high.T, strict=True)]


def _interval_of(value: Any) -> Interval:
    return value.bounds() if hasattr(value, "bounds") else interval(value)


def as_bounds(columns: Any, n: int) -> Boxes:
    """Numbers, intervals or forms, column by column, as boxes."""
    found = [_interval_of(each) for each in columns]
    return Boxes(
        np.stack([np.broadcast_to(each.low, n) for each in found], 1),
        np.stack([np.broadcast_to(each.high, n) for each in found], 1),
    )


@cache
def changes_at(threshold: float, observed_as: str) -> float:
    """The state at which `seen > threshold` changes when states are seen as float32 or float64.

    Of two neighbouring float32 around the threshold a state rounds to the one below at most up to
    the middle between them, and to the one above at least from there on. Both sides get the middle
    itself, and for float64 the threshold.
    """
    if observed_as != "float32":
        return threshold
    _, below, beside, after = neighbours(Fraction(threshold), np.float32)
    return float((below + (after if beside == below else beside)) / 2)
