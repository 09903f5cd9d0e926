"""What is claimed of a closed loop, in numbers, and what a step must show for it.

Regions are boxes over a plant's quantities: its states, then other features and outputs by name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.verify.intervals import INTERVALS
from crisptree.verify.loop import Boxes, Loop, as_bounds, columns_of
from crisptree.verify.plants.delay import delayed
from crisptree.verify.plants.plant import Plant

Kind = Literal["stays", "reaches", "settles"]
Box = NDArray[np.float64]


@dataclass(frozen=True)
class Claim:
    """From every start the loop stays in a region, reaches it, or settles in it.

    stays: every state from the start to step `steps` lies in the region, or all of them if `steps`
    is None; an episode that has ended is done with. reaches: within `steps` steps some state lies
    in the region, and the episode does not end before. settles: every state from step `steps` on
    lies in the region, and the episode does not end.
    """

    kind: Kind
    start: Box
    """`(states, 2)`."""
    region: Box
    """`(quantities, 2)`."""
    steps: int | None
    noise: tuple[float, ...] = ()
    """How far each feature may be off when the policy sees it; () for not at all."""
    delay: int = 0
    """0, or 1 if the policy acts on the observation of the step before."""
    disturbance: tuple[tuple[float, float], ...] = ()

    @property
    def is_for_ever(self) -> bool:
        return self.kind == "settles" or self.steps is None

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "start": _plain(self.start),
            "region": _plain(self.region),
            "steps": self.steps,
            "noise": list(self.noise),
            "delay": self.delay,
            "disturbance": [list(pair) for pair in self.disturbance],
        }

    @staticmethod
    def from_dict(given: Mapping[str, Any]) -> "Claim":
        return Claim(
            given["kind"],
            _box(given["start"]),
            _box(given["region"]),
            given["steps"],
            tuple(given["noise"]),
            given["delay"],
            tuple((low, high) for low, high in given["disturbance"]),
        )


def loop_of(tree: CrispTree, plant: Plant, claim: Claim) -> Loop:
    """The closed loop a claim speaks of, with its noise, delay and disturbance."""
    acting = dict(zip(plant.disturbance, claim.disturbance, strict=True))
    plant = replace(plant, disturbance=acting)
    return Loop(tree, delayed(plant) if claim.delay else plant, claim.noise)


def _plain(box: Box) -> list[list[float | None]]:
    """A box for JSON: null where there is no bound."""
    return [[float(end) if np.isfinite(end) else None for end in pair] for pair in box]


def _box(pairs: list[list[float | None]]) -> Box:
    ends = [
        [-np.inf if low is None else low, np.inf if high is None else high] for low, high in pairs
    ]
    return np.array(ends, np.float64).reshape(-1, 2)


class Judged(NamedTuple):
    """What becomes of boxes that a step led to."""

    going_on: Boxes
    """Where the episode may go on and the claim is still open."""
    is_shown: bool
    """Whether the claim asks no more of this step than the boxes show."""


@dataclass(frozen=True)
class Judge:
    """A claim about a plant, asked of the boxes of one step."""

    plant: Plant
    claim: Claim

    def judged(self, boxes: Boxes, step: int) -> Judged:
        """The boxes reached at a step: whether they keep to the claim, and those that go on."""
        n = len(self.plant.states)
        if self.claim.kind == "reaches":
            boxes = outside(boxes, self.claim.region[:n])
        going_on, shown = self.rows(*self._measured(boxes), step)
        is_shown = bool(shown.all())
        rest = boxes.take(going_on)
        if self.claim.kind != "stays":
            return Judged(rest, is_shown)
        limits = self.plant.box(self.plant.limits)[:n]
        low, high = rest.low.copy(), rest.high.copy()
        low[:, :n] = np.maximum(low[:, :n], limits[:, 0])
        high[:, :n] = np.minimum(high[:, :n], limits[:, 1])
        return Judged(Boxes(low, high), is_shown)

    def rows(
        self, low: NDArray, high: NDArray, step: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The same for bounds of the quantities: which rows go on, and which are shown."""
        region, limits = self.claim.region, self.plant.box(self.plant.limits)
        inside = _inside(low, high, region)
        within_limits = _inside(low, high, limits)
        if self.claim.kind == "reaches":
            is_goal = np.array_equal(region, self.plant.box(self.plant.goal))
            goes_on = within_limits & (is_goal | ~self._may_end(low, high))
            return ~inside, inside | goes_on
        if self.claim.kind == "settles":
            assert self.claim.steps is not None
            shown = within_limits & ~self._may_end(low, high)
            return np.ones(len(low), bool), shown & (inside | (step < self.claim.steps))
        over = ((low > limits[:, 1]) | (high < limits[:, 0])).any(axis=1)
        if self.plant.goal:
            over = over | _inside(low, high, self.plant.box(self.plant.goal))
        return np.logical_not(over), inside

    def _may_end(self, low: NDArray, high: NDArray) -> NDArray[np.bool_]:
        """Whether an episode may end in the plant's goal, row by row."""
        if not self.plant.goal:
            return np.zeros(len(low), bool)
        goal = self.plant.box(self.plant.goal)
        return np.asarray(((high >= goal[:, 0]) & (low <= goal[:, 1])).all(axis=1))

    def _measured(self, boxes: Boxes) -> tuple[NDArray, NDArray]:
        """Bounds of every quantity, `(N, quantities)` each."""
        n, states = len(boxes), len(self.plant.states)
        boxes = Boxes(boxes.low[:, :states], boxes.high[:, :states])
        if len(self.plant.quantities) == states:
            return boxes.low, boxes.high
        found = as_bounds(self.plant.measure(INTERVALS, columns_of(boxes)), n)
        return found.low, found.high


def _inside(low: NDArray, high: NDArray, box: Box) -> NDArray[np.bool_]:
    return np.all((low >= box[:, 0]) & (high <= box[:, 1]), axis=1)


def outside(boxes: Boxes, region: Box) -> Boxes:
    """The boxes cut along a region's sides, without the parts inside them.

    Parts that lie inside along every state are kept where the region says nothing about any.
    """
    if not np.isfinite(region).any():
        return boxes
    found, rest = [], boxes
    for at, (bottom, top) in enumerate(region):
        for bound, is_top in ((bottom, False), (top, True)):
            if not np.isfinite(bound):
                continue
            beyond = rest.high[:, at] > bound if is_top else rest.low[:, at] < bound
            low, high = rest.low[beyond].copy(), rest.high[beyond].copy()
            if is_top:
                low[:, at] = np.maximum(low[:, at], bound)
            else:
                high[:, at] = np.minimum(high[:, at], bound)
            found.append(Boxes(low, high))
            low, high = rest.low.copy(), rest.high.copy()
            if is_top:
                high[:, at] = np.minimum(high[:, at], bound)
                keep = low[:, at] <= bound
            else:
                low[:, at] = np.maximum(low[:, at], bound)
                keep = high[:, at] >= bound
            rest = Boxes(low[keep], high[keep])
    return Boxes.joined([*found, rest], boxes.low.shape[1])
