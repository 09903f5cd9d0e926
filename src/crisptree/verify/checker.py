"""The second opinion: whether a certificate proves what it says, by code of its own.

Nothing here comes from the prover: arithmetic, cutting along the tree, covers and what a claim asks
are written a second time, in another way. What is shared is the plant, whose equations are the
model, and the policy itself. A certificate holds if

1. its digest is right, and policy and plant are those it was made for;
2. the claim's start lies in the first cover;
3. what each cover leads to in a stride keeps to the claim on the way and lies in the next cover, or
   in the last cover again where the proof closes;
4. the covers reach as far as the claim asks.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.verify import certificate
from crisptree.verify.checker_covers import Covers, Rejected, Rows
from crisptree.verify.checker_numbers import NUMBERS, Number, hull_of, variables
from crisptree.verify.plants.delay import delayed
from crisptree.verify.plants.plant import Plant

CHUNK = 8_192
HALVINGS = 12
SAME = 1e-9
"""How closely samples of a plant must agree, relative to their size."""


@dataclass(frozen=True)
class Verdict:
    """Whether a certificate holds, and in one sentence why not."""

    holds: bool
    reason: str
    boxes: int = 0
    property: str = ""


def check(content: Mapping[str, Any], tree: CrispTree, plant: Plant) -> Verdict:
    """Whether a certificate proves its claim about this policy in this plant."""
    try:
        _check_origin(content, tree, plant)
        checker = Checker.of(content, tree, plant)
        return Verdict(True, "every step of the proof was checked", checker.run())
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
    """A decoded certificate."""

    tree: CrispTree
    plant: Plant
    """As the claim has it: with its disturbance."""
    moving: Plant
    """The plant whose states the covers are about: with an action that waits, if there is delay."""
    claim: Mapping[str, Any]
    start: NDArray[np.float64]
    region: NDArray[np.float64]
    covers: Covers
    stride: int
    closes: bool
    with_slopes: bool

    @staticmethod
    def of(content: Mapping[str, Any], tree: CrispTree, plant: Plant) -> "Checker":
        claim, proof = content["claim"], content["proof"]
        if claim["kind"] not in ("stays", "reaches", "settles"):
            raise Rejected(f"there is no claim {claim['kind']!r:.20}")
        acting = [tuple(map(float, pair)) for pair in claim["disturbance"]]
        plant = replace(plant, disturbance=dict(zip(plant.disturbance, acting, strict=True)))
        moving = delayed(plant) if claim["delay"] else plant
        stride = _count(proof["stride"])
        return Checker(
            tree,
            plant,
            moving,
            claim,
            _bounds(claim["start"], len(plant.states)),
            _bounds(claim["region"], len(plant.quantities)),
            Covers.of(proof, len(moving.states)),
            stride,
            bool(proof["closes"]),
            bool(proof["with_forms"]),
        )

    @property
    def steps(self) -> int | None:
        return None if self.claim["steps"] is None else _count(self.claim["steps"], 0)

    def run(self) -> int:
        """Check it all; returns how many boxes there are."""
        low, high = self._starts()
        low, high = self._judged(low, high, 0)
        self.covers.must_hold(0, low, high, 0)
        passes = self._passes()
        for at, (layer, following, drifts) in enumerate(passes):
            self._check_pass(layer, following, drifts, at * self.stride)
        return self.covers.total

    def _passes(self) -> list[tuple[int, int, int]]:
        """`(from cover, to cover, drifts so far)`, in the order of time.

        A cover that leads into itself is checked once where nothing drifts: the second pass would
        be the same.
        """
        last, steps = self.covers.count - 1, self.steps
        found = [(at, at + 1, 0) for at in range(last)]
        if self.covers.drifts:
            if self.claim["kind"] != "stays" or steps is None or last or not self.closes:
                raise Rejected("what drifts can only stay somewhere for a number of steps")
            return [(0, 0, at) for at in range(math.ceil(steps / self.stride))]
        if self.closes:
            if self.claim["kind"] == "settles" and last * self.stride < (steps or 0):
                raise Rejected("it closes before the claim's steps are done")
            return [*found, (last, last, 0)]
        if steps is None or self.claim["kind"] == "settles":
            raise Rejected("what holds for ever needs a cover that leads into itself")
        if self.claim["kind"] == "reaches" and len(self.covers.layers[last].cells):
            raise Rejected("not everything arrives")
        is_short = self.claim["kind"] == "stays" and last * self.stride < steps
        if is_short and len(self.covers.layers[last].cells):
            raise Rejected("it ends before the claim's steps are done")
        return found

    def _starts(self) -> Rows:
        low, high = self.start[None, :, 0], self.start[None, :, 1]
        if not np.isfinite(self.start).all() or (low > high).any():
            raise Rejected("the start is no box")
        for least, most in self.moving.reset_box[len(self.start) :]:
            if self.plant.actions.kind == "box":
                low, high = (
                    np.c_[low, np.full(len(low), least)],
                    np.c_[high, np.full(len(low), most)],
                )
                continue
            values = np.arange(int(least), int(most) + 1)
            count = len(low)
            low, high = np.repeat(low, len(values), 0), np.repeat(high, len(values), 0)
            column = np.tile(values, count)[:, None].astype(np.float64)
            low, high = np.hstack([low, column]), np.hstack([high, column])
        return low, high

    def _check_pass(self, layer: int, following: int, drifts: int, done: int) -> None:
        after = drifts + 1 if self.covers.drifts else 0
        for low, high in self._chunks(*self.covers.boxes(layer, drifts)):
            for step in range(done + 1, done + self.stride + 1):
                if self.claim["kind"] != "settles" and self.steps is not None and step > self.steps:
                    break
                low, high = self._judged(*self._image(low, high), step)
            if not self._is_done(done + self.stride):
                self.covers.must_hold(following, low, high, after)

    def _is_done(self, step: int) -> bool:
        """Whether the claim asks nothing of what comes after a step."""
        return self.claim["kind"] == "stays" and self.steps is not None and step >= self.steps

    @staticmethod
    def _chunks(low: NDArray, high: NDArray) -> Iterator[Rows]:
        for first in range(0, len(low), CHUNK):
            yield low[first : first + CHUNK], high[first : first + CHUNK]

    # What a claim asks of the boxes that a step led to.

    def _judged(self, low: NDArray, high: NDArray, step: int) -> Rows:
        kind = self.claim["kind"]
        limits = self.plant.box(self.plant.limits)
        n_states = len(self.plant.states)
        if kind == "reaches":
            low, high = _without(low, high, self.region[:n_states])
            least, most = self._quantities(low, high)
            open_ = ~_within(least, most, self.region)
            low, high, least, most = low[open_], high[open_], least[open_], most[open_]
            _require(_within(least, most, limits), f"an episode may end at step {step}")
            if not np.array_equal(self.region, self.plant.box(self.plant.goal)):
                self._no_end(least, most, step)
            return low, high
        least, most = self._quantities(low, high)
        if kind == "settles":
            _require(_within(least, most, limits), f"an episode may end at step {step}")
            self._no_end(least, most, step)
            if step >= (self.steps or 0):
                _require(_within(least, most, self.region), f"step {step} may leave the region")
            return low, high
        _require(_within(least, most, self.region), f"step {step} may leave the region")
        over = (least > limits[:, 1]).any(axis=1) | (most < limits[:, 0]).any(axis=1)
        if self.plant.goal:
            over |= _within(least, most, self.plant.box(self.plant.goal))
        low, high = low[~over], high[~over]
        ends = np.vstack(
            [limits[:n_states], np.tile([-np.inf, np.inf], (low.shape[1] - n_states, 1))]
        )
        return np.maximum(low, ends[:, 0]), np.minimum(high, ends[:, 1])

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

    # One step of the closed loop.

    def _image(self, low: NDArray, high: NDArray) -> Rows:
        parts = [self._step(node, *rows) for node, rows in self._by_leaf(low, high)]
        if not parts:
            return low, high
        return np.concatenate([part[0] for part in parts]), np.concatenate([p[1] for p in parts])

    def _step(self, leaf: int, low: NDArray, high: NDArray) -> Rows:
        acting = self.moving.disturbance_box
        n = len(low)
        all_low = np.hstack([low, np.tile(acting[:, 0], (n, 1))])
        all_high = np.hstack([high, np.tile(acting[:, 1], (n, 1))])
        least, most = hull_of(self._next(leaf, variables(all_low, all_high), low.shape[1]), n)
        if not self.with_slopes:
            return least, most
        # The mean value theorem: f(x) lies in f(middle) + slopes · (x - middle).
        middle = all_low / 2 + all_high / 2
        sloped = self._next(leaf, variables(all_low, all_high, with_slopes=True), low.shape[1])
        at_middle = hull_of(self._next(leaf, variables(middle, middle), low.shape[1]), n)
        for at, value in enumerate(sloped):
            if isinstance(value, Number) and value.slopes is not None:
                lower, upper = value.around(
                    at_middle[0][:, at], at_middle[1][:, at], all_low, all_high, middle
                )
                least[:, at] = np.maximum(least[:, at], lower)
                most[:, at] = np.minimum(most[:, at], upper)
        return least, most

    def _next(self, leaf: int, columns: list[Number], n_states: int) -> list[Any]:
        state = columns[:n_states]
        action = self._action(leaf, state)
        return list(self.moving.step(NUMBERS, state, action, columns[n_states:]))

    def _action(self, leaf: int, state: list[Number]) -> Any:
        actions, held = self.tree.actions, self.tree.action[leaf].tolist()
        if actions.kind != "box":
            return held
        seen = self.moving.observe(NUMBERS, state) if self.tree.gains[leaf] else []
        for dimension, feature, weight in self.tree.gains[leaf]:
            noise = self._noise(feature)
            heard = seen[feature] + Number(-noise, noise) if noise else seen[feature]
            held[dimension] = held[dimension] + weight * heard
        found = []
        for value, lowest, highest in zip(held, actions.low, actions.high, strict=True):
            value = NUMBERS.clip(value, lowest, highest)
            found.append(NUMBERS.float32(value) if actions.dtype == "float32" else value)
        return found

    def _noise(self, feature: int) -> float:
        return float(self.claim["noise"][feature]) if self.claim["noise"] else 0.0

    def _by_leaf(self, low: NDArray, high: NDArray) -> Iterator[tuple[int, Rows]]:
        """The rows that may reach each leaf, cut where the tree's answer is certain."""
        waiting = [(0, low, high)]
        while waiting:
            node, low, high = waiting.pop()
            feature, threshold, if_true, if_false = self.tree.nodes[node]
            if not len(low):
                continue
            if feature < 0:
                yield node, (low, high)
                continue
            for child, answer in ((if_true, True), (if_false, False)):
                waiting.append((child, *self._answering(low, high, feature, threshold, answer)))

    def _answering(
        self, low: NDArray, high: NDArray, feature: int, threshold: float, answer: bool
    ) -> Rows:
        """The parts of the rows in which a node may give the answer."""

        def impossible(low: NDArray, high: NDArray) -> NDArray[np.bool_]:
            seen = self.moving.observe(NUMBERS, variables(low, high))[feature]
            noise = self._noise(feature)
            seen = seen + Number(-noise, noise) if noise else seen
            return seen.high <= threshold if answer else seen.low > threshold

        keep = ~impossible(low, high)
        low, high = low[keep], high[keep]
        state = self._state_of(feature)
        if state is None:
            return _shaved(low, high, impossible)
        end = _turns_at(threshold, self.plant.observed_as)
        noise = self._noise(feature)
        if answer:
            low = low.copy()
            low[:, state] = np.maximum(low[:, state], end - noise - SAME * noise)
        else:
            high = high.copy()
            high[:, state] = np.minimum(high[:, state], end + noise + SAME * noise)
        return low, high

    def _state_of(self, feature: int) -> int | None:
        """The state a feature is, if it is one unchanged."""
        columns = variables(
            np.zeros((1, len(self.moving.states))), np.ones((1, len(self.moving.states)))
        )
        seen = columns if self.moving.features is None else self.moving.features(NUMBERS, columns)
        same = [at for at, column in enumerate(columns) if column is seen[feature]]
        return same[0] if same else None


def _turns_at(threshold: float, observed_as: str) -> float:
    """Where a state that rounds to a value above the threshold begins."""
    if observed_as != "float32":
        return threshold
    below = np.float32(threshold)
    if float(below) > threshold:
        below = np.nextafter(below, np.float32(-np.inf))
    above = np.nextafter(below, np.float32(np.inf))
    return (float(below) + float(above)) / 2


def _shaved(low: NDArray, high: NDArray, impossible: Any) -> Rows:
    """The rows without the ends, along each state, where something is impossible."""
    low, high = low.copy(), high.copy()
    for state in range(low.shape[1]):
        for side in (0, 1):
            width = high[:, state] - low[:, state]
            good, bad = np.zeros(len(low)), np.ones(len(low))
            for _ in range(HALVINGS if (width > 0).any() else 0):
                share = good / 2 + bad / 2
                slab = [low.copy(), high.copy()]
                end = high[:, state] - share * width if side else low[:, state] + share * width
                slab[1 - side][:, state] = end
                gone = impossible(*slab)
                good, bad = np.where(gone, share, good), np.where(gone, bad, share)
            if side:
                high[:, state] = np.where(good > 0, high[:, state] - good * width, high[:, state])
            else:
                low[:, state] = np.where(good > 0, low[:, state] + good * width, low[:, state])
    return low, high


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


def _count(value: Any, least: int = 1) -> int:
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
