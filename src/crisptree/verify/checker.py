"""The second opinion: whether a certificate proves what it says, by code of its own.

Nothing here comes from the prover: arithmetic, cutting along the tree, covers and what a claim asks
are written a second time, in another way. What is shared is the plant, whose equations are the
model, and the policy itself. A certificate holds if

1. its digest is right, and policy and plant are those it was made for;
2. the claim's start lies in the first cover;
3. what each cover leads to in a stride keeps to the claim on the way and lies in the next cover, or
   in the last cover again where the proof closes;
4. the covers reach as far as the claim asks.

Where a proof is one of tubes, the certificate says how the start is cut into pieces, and each is
followed to the claim's last step instead.
"""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.verify import certificate
from crisptree.verify.checker_claim import Asked, count
from crisptree.verify.checker_covers import Covers, Rejected, Rows
from crisptree.verify.checker_step import Steps
from crisptree.verify.checker_tubes import follow, pieces
from crisptree.verify.plants.delay import delayed
from crisptree.verify.plants.plant import Plant

CHUNK, TUBES = 8_192, 1_024
"""Boxes that are moved together, and pieces that are followed together."""
MOST_BOXES = 1_000_000
"""Into which the boxes that are moved together may be cut."""
SAME = 1e-9
"""How closely samples of a plant must agree, relative to their size."""


@dataclass(frozen=True)
class Verdict:
    """Whether a certificate holds, and in one sentence why not."""

    holds: bool
    reason: str
    boxes: int = 0
    property: str = ""
    unreached: tuple[int, ...] = ()
    """Leaves that no state of the proof reaches."""
    is_undecided: bool = False
    """Whether there was no time to check it all."""


def check(
    content: Mapping[str, Any], tree: CrispTree, plant: Plant, seconds: float = math.inf
) -> Verdict:
    """Whether a certificate proves its claim about this policy in this plant, as far as that can be
    checked in so many seconds."""
    try:
        _check_origin(content, tree, plant)
        checker = Checker.of(content, tree, plant, time.monotonic() + seconds)
        boxes = checker.run(content["proof"])
        unreached = {visit.node for visit in tree.leaves()} - checker.steps.reached
        return Verdict(
            True, "every step of the proof was checked", boxes, unreached=tuple(sorted(unreached))
        )
    except TimeoutError:
        why = f"not all of the proof could be checked in {seconds:g} s"
        return Verdict(False, why, is_undecided=True)
    except Rejected as reason:
        return Verdict(False, str(reason))
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        return Verdict(False, f"the certificate is damaged ({type(error).__name__}: {error})")


def _check_origin(content: Mapping[str, Any], tree: CrispTree, plant: Plant) -> None:
    if content.get("sha256") != certificate.digest(content):
        raise Rejected("its content does not match its digest")
    if content["policy"]["sha256"] != certificate.policy_hash(tree):
        raise Rejected("it was made for another policy")
    if content["plant"]["name"] != plant.name:
        raise Rejected(f"it speaks of the plant {content['plant']['name']!r:.60}")
    for sample in content["plant"]["samples"]:
        action = np.array([sample["action"]])
        state, disturbance = np.array([sample["state"]]), np.array([sample["disturbance"]])
        after = plant.play(state, action, disturbance.reshape(1, -1))[0]
        expected = np.array(sample["next"])
        if not np.allclose(after, expected, rtol=SAME, atol=SAME):
            raise Rejected("the plant's equations differ from those it was made with")


@dataclass(frozen=True)
class Checker:
    """What a certificate claims, and how steps are taken."""

    asked: Asked
    steps: Steps
    deadline: float
    """On the clock of `time.monotonic`."""

    @staticmethod
    def of(
        content: Mapping[str, Any], tree: CrispTree, plant: Plant, deadline: float = math.inf
    ) -> "Checker":
        claim = content["claim"]
        acting = [tuple(map(float, pair)) for pair in claim["disturbance"]]
        plant = replace(plant, disturbance=dict(zip(plant.disturbance, acting, strict=True)))
        asked = Asked.of(claim, plant)
        moving = delayed(plant) if claim["delay"] else plant
        with_slopes = bool(content["proof"].get("with_forms"))
        return Checker(asked, Steps(tree, moving, asked.noise, with_slopes), deadline)

    def run(self, proof: Mapping[str, Any]) -> int:
        """Check it all; returns how many boxes there are."""
        if "halved" in proof:
            low, high = pieces(proof["halved"], *self._starts())
            for some in _chunks(low, high, TUBES):
                follow(self.steps, self.asked, *some, self.deadline)
            return len(low)
        if proof.get("with_tubes"):
            raise Rejected("its tubes are those of an earlier version; prove it again")
        covers = Covers.of(proof, len(self.steps.plant.states))
        low, high = self.asked.judged(*self._starts(), 0)
        covers.must_hold(0, low, high)
        stride = count(proof["stride"])
        passes = self._passes(covers, stride, bool(proof["closes"]))
        for at, (layer, following) in enumerate(passes):
            self._check_pass(covers, layer, following, range(at * stride, (at + 1) * stride))
        return covers.total

    def _passes(self, covers: Covers, stride: int, closes: bool) -> list[tuple[int, int]]:
        """`(from cover, to cover)`, in the order of time."""
        kind, steps, last = self.asked.kind, self.asked.steps, covers.count - 1
        found = [(at, at + 1) for at in range(last)]
        if closes:
            if kind == "reaches":
                raise Rejected("a cover that leads into itself arrives nowhere")
            if kind == "settles" and last * stride < (steps or 0):
                raise Rejected("it closes before the claim's steps are done")
            return [*found, (last, last)]
        if steps is None or kind == "settles":
            raise Rejected("what holds for ever needs a cover that leads into itself")
        if kind == "reaches" and len(covers.layers[last].cells):
            raise Rejected("not everything arrives")
        is_short = kind == "stays" and last * stride < steps
        if is_short and len(covers.layers[last].cells):
            raise Rejected("it ends before the claim's steps are done")
        return found

    def _starts(self) -> Rows:
        start, plant = self.asked.start, self.steps.plant
        low, high = start[None, :, 0], start[None, :, 1]
        for least, most in plant.reset_box[len(start) :]:
            if plant.actions.kind == "box":
                low, high = (
                    np.c_[low, np.full(len(low), least)],
                    np.c_[high, np.full(len(low), most)],
                )
                continue
            values = np.arange(int(least), int(most) + 1)
            rows = len(low)
            low, high = np.repeat(low, len(values), 0), np.repeat(high, len(values), 0)
            column = np.tile(values, rows)[:, None].astype(np.float64)
            low, high = np.hstack([low, column]), np.hstack([high, column])
        return low, high

    def _check_pass(self, covers: Covers, layer: int, following: int, steps: range) -> None:
        known = covers.layers[layer]
        for low, high in _chunks(known.low, known.high, CHUNK):
            for step in steps:
                if self.asked.is_beyond(step + 1):
                    break
                if time.monotonic() > self.deadline:
                    raise TimeoutError
                low, high = self.asked.judged(*self.steps.image(low, high), step + 1)
                if len(low) > MOST_BOXES:
                    raise Rejected(f"its boxes multiply by step {step + 1}")
            if not self.asked.is_done(steps.stop):
                covers.must_hold(following, low, high)


def _chunks(low: NDArray, high: NDArray, size: int) -> Iterator[Rows]:
    for first in range(0, len(low), size):
        yield low[first : first + size], high[first : first + size]
