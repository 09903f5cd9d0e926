"""The checker's own reading of a claim: what it asks of the states that a step led to."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.verify.checker_covers import Rejected, Rows
from crisptree.verify.checker_numbers import NUMBERS, hull_of, variables
from crisptree.verify.plants.plant import Plant

KINDS = ("stays", "reaches", "settles")


@dataclass(frozen=True)
class Asked:
    """A claim about a plant."""

    plant: Plant
    """With the claim's disturbance, without delay."""
    kind: str
    start: NDArray[np.float64]
    region: NDArray[np.float64]
    steps: int | None
    noise: tuple[float, ...]

    @staticmethod
    def of(claim: Mapping[str, Any], plant: Plant) -> "Asked":
        if claim["kind"] not in KINDS:
            raise Rejected(f"there is no claim {claim['kind']!r:.20}")
        steps = None if claim["steps"] is None else count(claim["steps"], 0)
        noise = tuple(float(each) for each in claim["noise"])
        if len(noise) not in (0, len(plant.feature_names)):
            raise Rejected("its noise is no number for each feature")
        start = _bounds(claim["start"], len(plant.states))
        if not np.isfinite(start).all() or (start[:, 0] > start[:, 1]).any():
            raise Rejected("the start is no box")
        region = _bounds(claim["region"], len(plant.quantities))
        return Asked(plant, claim["kind"], start, region, steps, noise)

    def is_done(self, step: int) -> bool:
        """Whether the claim asks nothing of what comes after a step."""
        return self.kind == "stays" and self.steps is not None and step >= self.steps

    def is_beyond(self, step: int) -> bool:
        """Whether the claim asks nothing of a step."""
        return self.kind != "settles" and self.steps is not None and step > self.steps

    def judged(self, low: NDArray, high: NDArray, step: int) -> Rows:
        """The boxes that go on after a step; refused where they break the claim."""
        n_states = len(self.plant.states)
        if self.kind == "reaches":
            low, high = _without(low, high, self.region[:n_states])
        least, most = self._quantities(low, high)
        going_on = self.rows(least, most, step)
        low, high = low[going_on], high[going_on]
        if self.kind != "stays":
            return low, high
        limits = self.plant.box(self.plant.limits)[:n_states]
        ends = np.vstack([limits, np.tile([-np.inf, np.inf], (low.shape[1] - n_states, 1))])
        return np.maximum(low, ends[:, 0]), np.minimum(high, ends[:, 1])

    def rows(self, least: NDArray, most: NDArray, step: int) -> NDArray[np.bool_]:
        """Which rows go on, given bounds of their quantities; refused where they break the
        claim."""
        limits = self.plant.box(self.plant.limits)
        if self.kind == "reaches":
            open_ = ~_within(least, most, self.region)
            _require(_within(least, most, limits)[open_], f"an episode may end at step {step}")
            if not np.array_equal(self.region, self.plant.box(self.plant.goal)):
                self._no_end(least[open_], most[open_], step)
            return open_
        if self.kind == "settles":
            _require(_within(least, most, limits), f"an episode may end at step {step}")
            self._no_end(least, most, step)
            if step >= (self.steps or 0):
                _require(_within(least, most, self.region), f"step {step} may leave the region")
            return np.ones(len(least), bool)
        _require(_within(least, most, self.region), f"step {step} may leave the region")
        over = (least > limits[:, 1]).any(axis=1) | (most < limits[:, 0]).any(axis=1)
        if self.plant.goal:
            over |= _within(least, most, self.plant.box(self.plant.goal))
        return np.logical_not(over)

    def is_reached(self, least: NDArray, most: NDArray) -> NDArray[np.bool_]:
        """Which rows lie in the region."""
        return _within(least, most, self.region)

    def _no_end(self, least: NDArray, most: NDArray, step: int) -> None:
        if self.plant.goal:
            goal = self.plant.box(self.plant.goal)
            apart = np.any((most < goal[:, 0]) | (least > goal[:, 1]), axis=1)
            _require(apart, f"an episode may end at step {step}")

    def _quantities(self, low: NDArray, high: NDArray) -> Rows:
        n_states = len(self.plant.states)
        low, high = low[:, :n_states], high[:, :n_states]
        if len(self.plant.quantities) == n_states:
            return low, high
        return hull_of(self.plant.measure(NUMBERS, variables(low, high)), len(low))


def _without(low: NDArray, high: NDArray, region: NDArray) -> Rows:
    """The rows cut along the region's sides; what lies inside along all states is kept, to be
    asked about the rest of the region."""
    outer_low, outer_high = [], []
    for at, (bottom, top) in enumerate(region):
        for bound, sign in ((bottom, 1), (top, -1)):
            if not math.isfinite(bound):
                continue
            beyond = low[:, at] < bound if sign > 0 else high[:, at] > bound
            part_low, part_high = low[beyond].copy(), high[beyond].copy()
            side = part_high if sign > 0 else part_low
            side[:, at] = (
                np.minimum(side[:, at], bound) if sign > 0 else np.maximum(side[:, at], bound)
            )
            outer_low.append(part_low)
            outer_high.append(part_high)
            rest = high[:, at] >= bound if sign > 0 else low[:, at] <= bound
            low, high = low[rest].copy(), high[rest].copy()
            side = low if sign > 0 else high
            side[:, at] = (
                np.maximum(side[:, at], bound) if sign > 0 else np.minimum(side[:, at], bound)
            )
    return np.concatenate([low, *outer_low]), np.concatenate([high, *outer_high])


def _within(low: NDArray, high: NDArray, box: NDArray) -> NDArray[np.bool_]:
    return np.all((box[:, 0] <= low) & (high <= box[:, 1]), axis=1)


def _require(fine: NDArray[np.bool_], reason: str) -> None:
    if not fine.all():
        raise Rejected(reason)


def count(value: Any, least: int = 1) -> int:
    """A number of steps."""
    if type(value) is not int or not least <= value <= 10_000_000:
        raise Rejected(f"{value!r:.20} is no number of steps")
    return value


def _bounds(pairs: Any, count: int) -> NDArray[np.float64]:
    found = [
        (-math.inf if low is None else float(low), math.inf if high is None else float(high))
        for low, high in pairs
    ]
    if len(found) != count or any(math.isnan(end) for pair in found for end in pair):
        raise Rejected(f"a region has {len(found)} pairs of bounds; it needs {count}")
    return np.array(found)
