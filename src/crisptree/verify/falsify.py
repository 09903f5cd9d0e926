"""A search for a start that breaks a claim: many episodes, then more around the worst of them."""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.verify.claims import Claim, Judge
from crisptree.verify.loop import Loop
from crisptree.verify.simulate import Nature, States, natures, starts, states

FIRST, EPISODES, ROUNDS, WORST = 256, 1024, 6, 64
LONGEST = 2_000
"""Steps of an episode where a claim has no end."""
MOST_NUMBERS = 20_000_000
"""Disturbances and noise of all episodes, drawn before they are played."""
FEWEST = 4


class Counterexample(NamedTuple):
    """An episode that breaks a claim."""

    states: States
    """`(steps + 1, S)`, from the start to the state that shows it."""
    acting: NDArray[np.float64]
    """`(steps, numbers)`: the disturbances, then the noise of each feature."""


@dataclass(frozen=True)
class Falsifier:
    """Plays episodes of a loop and measures how close each comes to breaking a claim."""

    loop: Loop
    judge: Judge

    @property
    def claim(self) -> Claim:
        return self.judge.claim

    @property
    def horizon(self) -> int:
        steps = self.claim.steps
        if self.claim.kind == "settles":
            assert steps is not None
            return max(2 * steps, steps + LONGEST // 4)
        return LONGEST if steps is None else steps

    def search(self, deadline: float, seed: int = 0) -> Counterexample | None:
        """An episode that breaks the claim in the plant; None if none was found in time.

        The first, small round is played for `LONGEST` steps whatever the time.
        """
        rng = np.random.default_rng(seed)
        numbers = max(1, len(self.loop.plant.disturbance) + len(self.loop.noise))
        n = int(np.clip(MOST_NUMBERS // (self.horizon * numbers), FEWEST, EPISODES))
        begun = starts(self.loop, self.claim, min(n, FIRST), rng)
        nature = natures(self.loop, min(n, FIRST), self.horizon, rng)
        width = self.claim.start[:, 1] - self.claim.start[:, 0]
        for round_ in range(ROUNDS):
            badness, _ = self.badness(begun, nature, deadline, 0 if round_ else LONGEST)
            order = np.argsort(-badness)
            if badness[order[0]] > 0:
                return self.episode(begun[order[0]], nature.take(order[:1]))
            if time.monotonic() > deadline:
                return None
            parents = np.resize(order[:WORST], n)
            begun = begun[parents]
            spread = width * 0.3 ** (round_ + 1)
            moved = rng.normal(begun[:, : len(width)], spread)
            begun[:, : len(width)] = np.clip(moved, self.claim.start[:, 0], self.claim.start[:, 1])
            fresh = natures(self.loop, n, self.horizon, rng)
            keep = rng.random(n) < 0.5
            nature = Nature(np.where(keep[:, None], nature.acting[:, parents], fresh.acting))
        return None

    def badness(
        self, begun: States, nature: Nature, deadline: float = np.inf, at_least: int = 0
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """How far each episode goes beyond what the claim allows (above zero), or how near it
        comes; and the step at which it was worst. Past the deadline no more than `at_least` steps
        are played."""
        plant, kind = self.judge.plant, self.claim.kind
        n = len(plant.states)
        limits, goal = plant.box(plant.limits), plant.box(plant.goal)
        worst = np.full(len(begun), np.inf if kind == "reaches" else -np.inf)
        when = np.zeros(len(begun), np.int64)
        ended = np.zeros(len(begun), bool)
        for step, now in enumerate(states(self.loop, begun, nature)):
            values = plant.quantities_of(now[:, :n])
            beyond_limits = beyond(values, limits)
            beyond_region = beyond(values, self.claim.region)
            if kind == "reaches":
                # Outside the limits the episode is over, and nothing will be reached.
                here = np.where(ended, worst, np.minimum(worst, beyond_region))
                ended = ended | (here <= 0) | (beyond_limits > 0)
            else:
                open_now = kind == "stays" or step >= (self.claim.steps or 0)
                here = beyond_region if open_now else np.full(len(now), -np.inf)
                if kind == "settles":
                    here = np.maximum(here, beyond_limits)
                here = np.where(ended, -np.inf, here)
                ended = ended | (beyond_limits > 0)
                if plant.goal:
                    ended = ended | (beyond(values, goal) <= 0)
                here = np.maximum(here, worst)
            when = np.where(here != worst, step, when)
            worst = here
            if ended.all() or (step >= at_least and time.monotonic() > deadline):
                break
        else:
            return worst, when
        if kind == "reaches" and not ended.all():
            worst = np.where(ended, worst, -np.inf)  # no time to see how these end
        return worst, when

    def episode(self, start: States, nature: Nature) -> Counterexample | None:
        """The episode up to the state that shows it, one more time and alone."""
        badness, when = self.badness(start[None], nature)
        if not badness[0] > 0:
            return None
        last = self.horizon if self.claim.kind == "reaches" else int(when[0])
        nature = Nature(nature.acting[:last])
        path = np.concatenate(list(states(self.loop, start[None], nature)))
        return self._until_shown(Counterexample(path, nature.acting[:, 0]))

    def _until_shown(self, found: Counterexample) -> Counterexample:
        """Without what comes after the first state that breaks the claim."""
        plant, n = self.judge.plant, len(self.judge.plant.states)
        values = plant.quantities_of(found.states[:, :n])
        broken = beyond(values, plant.box(plant.limits)) > 0
        if self.claim.kind == "stays":
            broken = beyond(values, self.claim.region) > 0
        elif self.claim.kind == "settles":
            late = np.arange(len(values)) >= (self.claim.steps or 0)
            broken = broken | (late & (beyond(values, self.claim.region) > 0))
        last = int(np.argmax(broken)) if broken.any() else len(values) - 1
        return Counterexample(found.states[: last + 1], found.acting[:last])


def beyond(values: NDArray, box: NDArray) -> NDArray[np.float64]:
    """How far rows lie outside a box (above zero) or from its nearest side (below), measured by
    the box's own widths."""
    finite = np.isfinite(box).all(axis=1)
    width = np.where(finite, box[:, 1] - box[:, 0], 1.0)
    with np.errstate(invalid="ignore"):
        outside = np.maximum(values - box[:, 1], box[:, 0] - values) / np.maximum(width, 1e-12)
    said = np.isfinite(box).any(axis=1)
    if not said.any():
        return np.full(len(values), -np.inf)
    return outside[:, said].max(axis=1)
