"""Proofs about a closed loop: covers that hold every state, step after step.

A proof is a list of covers. Everything that one cover can lead to in `stride` steps lies in the
next; at the end of a proof that something holds for ever, the last cover leads into itself.
"""

import time
from dataclasses import dataclass, field

import numpy as np

from crisptree.verify.cells import Cover, Grid, TooManyPiecesError, grown, joined
from crisptree.verify.claims import Claim, Judge
from crisptree.verify.loop import Boxes, Loop

CHUNK = 8_192
"""Boxes that are moved together: what they need lies in the processor's cache."""
MULTIPLIED = 64
"""How many times as many they may become within a stride."""


@dataclass(frozen=True)
class Limits:
    """When to give up."""

    deadline: float
    """On the clock of `time.monotonic`."""
    boxes: int = 1_000_000
    """The most boxes of a cover."""


@dataclass
class Attempt:
    """What was tried with one grid, and how far it got."""

    grid: Grid
    stride: int
    layers: list[Cover] = field(default_factory=list)
    with_forms: bool = False
    """Whether forms were computed besides intervals."""
    closes: bool = False
    """Whether the last cover leads into itself."""
    leaves: set[int] = field(default_factory=set)
    """The leaves that any state on the way may reach."""
    shown_steps: int = 0
    """The steps for which the claim was shown."""
    is_proof: bool = False
    reason: str = ""
    """Why it ended without a proof."""

    @property
    def boxes(self) -> int:
        return sum(map(len, self.layers))

    @property
    def is_for_ever(self) -> bool:
        """Whether it shows the claim for any number of steps."""
        return self.closes


class GaveUpError(Exception):
    """A step shows less than the claim needs, or there is no time or room for more."""


@dataclass
class Prover:
    """Follows a loop from a claim's start, with one grid."""

    loop: Loop
    judge: Judge
    limits: Limits

    @property
    def claim(self) -> Claim:
        return self.judge.claim

    def attempt(self, grid: Grid, stride: int, guess: Boxes | None = None) -> Attempt:
        """Try to prove the claim.

        A cover that leads into itself is sought if something is to hold for ever; `guess` holds
        states that are likely to be met in the long run, which saves rounds.
        """
        found = Attempt(grid, stride, with_forms=self.loop.with_forms)
        try:
            self._follow(found, guess)
        except (GaveUpError, TooManyPiecesError) as reason:
            found.reason = str(reason)
        return found

    def _follow(self, found: Attempt, guess: Boxes | None) -> None:
        start = start_boxes(self.loop, self.claim)
        going_on, shown = self.judge.judged(start, 0)
        if not shown:
            raise GaveUpError("the start lies outside")
        cover = found.grid.cover(going_on)
        found.layers.append(cover)
        done = 0
        while not self._is_enough(found, done):
            cover = self._moved(cover, found, done)
            done += found.stride
            found.layers.append(cover)
        if self.claim.is_for_ever:
            if guess is not None:
                cover = joined([cover, found.grid.cover(guess)])
            found.layers[-1] = self._closed(cover, found, done)
            found.closes = True
        found.is_proof = True

    def _is_enough(self, found: Attempt, done: int) -> bool:
        """Whether the layers reach as far as the claim asks, up to the part for ever."""
        steps = self.claim.steps
        if not len(found.layers[-1]):
            return True
        if self.claim.kind == "reaches":
            assert steps is not None
            if done >= steps:
                raise GaveUpError(f"not everything arrived within {steps} steps")
            return False
        return steps is None or done >= steps

    def _moved(self, cover: Cover, found: Attempt, done: int) -> Cover:
        """A cover of all that one leads to in a stride; every step on the way is judged."""
        parts = []
        for first in range(0, len(cover), CHUNK):
            boxes = cover.take(np.arange(first, min(first + CHUNK, len(cover)))).boxes
            is_last = first + CHUNK >= len(cover)
            for taken in range(found.stride):
                step = done + taken + 1
                if self._is_beyond(step):
                    break
                if is_last:  # the others came further
                    found.shown_steps = max(found.shown_steps, done + taken)
                self._check_time()
                boxes, shown = self.judge.judged(self.loop.image(boxes, found.leaves), step)
                if not shown:
                    raise GaveUpError(f"step {step} may leave the region")
                if len(boxes) > MULTIPLIED * CHUNK:
                    raise GaveUpError(f"boxes multiply within {taken + 1} steps")
            parts.append(found.grid.cover(boxes))
        found.shown_steps = max(found.shown_steps, done + found.stride)
        moved = joined(parts) if parts else cover
        if len(moved) > self.limits.boxes:
            raise GaveUpError(f"{len(moved):,} boxes are too many")
        return moved

    def _is_beyond(self, step: int) -> bool:
        steps = self.claim.steps
        return self.claim.kind != "settles" and steps is not None and step > steps

    def _closed(self, cover: Cover, found: Attempt, done: int) -> Cover:
        """A cover with this one in it that leads into itself."""
        changed = np.arange(len(cover))
        while len(changed):
            cover, changed = grown(cover, self._moved(cover.take(changed), found, done))
            if len(cover) > self.limits.boxes:
                raise GaveUpError(f"{len(cover):,} boxes are too many")
            done += found.stride
        return cover

    def _check_time(self) -> None:
        if time.monotonic() > self.limits.deadline:
            raise GaveUpError("the time is over")


def start_boxes(loop: Loop, claim: Claim) -> Boxes:
    """Where the loop starts: the claim's box, with every action that may be waiting."""
    low, high = claim.start[None, :, 0], claim.start[None, :, 1]
    waiting = loop.plant.reset_box[len(claim.start) :]
    for least, most in waiting:
        if loop.plant.actions.kind == "box":
            values = [(least, most)]
        else:
            values = [(value, value) for value in np.arange(least, most + 1)]
        low, high = (
            np.concatenate([np.c_[part, np.full(len(part), value[end])] for value in values])
            for end, part in ((0, low), (1, high))
        )
    return Boxes(low, high)
