"""Tubes: sets of states that remember where they started.

A box around the states of a step forgets how they depend on each other, and where a system turns
or swings the boxes grow though the states do not. A tube is `centre + axes·s` with every s in
[-1, 1], and its axes turn as the system does. What is not linear makes them longer; a tube that
would bend too much is split. So a piece of the start is followed for many steps. Where the plant's
equations have two cases, or the tree may decide in two ways and splitting does not help, both are
followed, with the whole tube.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crisptree.verify.affine import FORMS, Affine, Cases, form, rounded, symbols, with_squares
from crisptree.verify.claims import Judge
from crisptree.verify.intervals import Interval
from crisptree.verify.loop import Boxes, Loop, as_bounds

ROUNDING = 2.0**-44
"""Relative to the sizes in a frame, for all products and sums of a change of frames together."""
LEAST, MOST = 1e-12, 1e12
"""The least width of a tube, and a width beyond which nothing is known."""
FLAT = 10.0
"""The condition of axes that are so close to each other that others are better."""
GROWTH, SHORT = 0.2, 0.1
"""The share by which what is not linear may lengthen an axis in a step; beyond it the tube is
split. Axes that are shorter than that share of the longest may grow by as much as if they were
not."""
OPEN = 1.0
"""A growth beyond which it is no bend but an open condition: then the longest axis is split."""
MOST_SPLITS, SPLIT_FIRST = 8, 2
"""How often a tube is split in one step; how often for a decision of the tree alone."""
AHEAD = 3
"""How many steps before it arrives where it should a tube may bend as it likes."""
BLOCK = 1_024
"""Tubes that are moved together: what they need lies in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Tubes:
    """One form a state, with as many symbols as there are states."""

    forms: tuple[Affine, ...]

    def __len__(self) -> int:
        return len(self.forms[0].centre)

    @staticmethod
    def of(boxes: Boxes) -> "Tubes":
        """One tube a box; a state without width gets a little, so that axes have directions."""
        return Tubes(tuple(symbols(boxes.low - LEAST, boxes.high + LEAST)))

    def take(self, rows: NDArray) -> "Tubes":
        return Tubes(
            tuple(
                Affine(each.centre[rows], each.coefficients[:, rows], each.radius[rows])
                for each in self.forms
            )
        )

    @staticmethod
    def joined(parts: "list[Tubes]") -> "Tubes":
        columns = zip(*(part.forms for part in parts), strict=True)
        return Tubes(
            tuple(
                Affine(
                    np.concatenate([each.centre for each in column]),
                    np.concatenate([each.coefficients for each in column], axis=1),
                    np.concatenate([each.radius for each in column]),
                )
                for column in columns
            )
        )

    @property
    def is_known(self) -> bool:
        """Whether every tube has bounds."""
        return all((np.abs(each.centre) + each.reach < MOST).all() for each in self.forms)

    @property
    def boxes(self) -> Boxes:
        return as_bounds(self.forms, len(self))


def image(
    loop: Loop, tubes: Tubes, leaves: set[int] | None = None, judge: Judge | None = None
) -> Tubes:
    """Tubes that hold every state one step after these, without bounds where nothing is known; the
    leaves that may decide are added to `leaves`.

    A tube that the step would bend too much, or that the tree may lead two ways, is split first,
    unless it is about to arrive where the judge's claim wants it.
    """
    if not len(tubes):
        return tubes
    found, waiting = [], [(tubes, 0)]
    while waiting:
        tubes, times = waiting.pop()
        if len(tubes) > BLOCK:
            rows = np.arange(len(tubes))
            waiting += [(tubes.take(rows[at : at + BLOCK]), times) for at in rows[::BLOCK]]
            continue
        parts = pieces(loop, tubes)
        ways = np.bincount(np.concatenate([rows for _, rows in parts]), minlength=len(tubes))
        if times < SPLIT_FIRST and (ways > 1).any():
            both = tubes.take(np.flatnonzero(ways > 1))
            waiting.append((_split(both, _longest(both)), times + 1))
            parts = [(leaf, rows[ways[rows] == 1]) for leaf, rows in parts]
        for leaf, rows in parts:
            if leaves is not None and len(rows):
                leaves.add(leaf)
            moved, halves = _moved(loop, tubes.take(rows), leaf, judge, times < MOST_SPLITS)
            found += moved
            waiting += [(each, times + 1) for each in halves]
    return Tubes.joined(found)


def _moved(
    loop: Loop, tubes: Tubes, leaf: int, judge: Judge | None, may_split: bool
) -> tuple[list[Tubes], list[Tubes]]:
    """The tubes one step on, and the halves of those that were split instead."""
    moved, halves = [], []
    for rows, after, growth, axis in _cases(loop, tubes, leaf):
        bent = ~(growth <= GROWTH) & may_split
        if judge is not None and judge.claim.kind == "reaches" and bent.any():
            with np.errstate(invalid="ignore", over="ignore"):
                bent[bent] = ~_arrives(loop, after.take(np.flatnonzero(bent)), judge, AHEAD)
        if bent.any():
            halves.append(_split(tubes.take(rows[bent]), axis[bent]))
        moved.append(after.take(np.flatnonzero(~bent)))
    return moved, halves


def _cases(
    loop: Loop, tubes: Tubes, leaf: int
) -> Iterator[tuple[NDArray[np.int64], Tubes, NDArray[np.float64], NDArray[np.int64]]]:
    """The tubes one step on, for every case of the plant's equations that there is in them: their
    rows, and what `_stepped` says of them."""
    waiting: list[tuple[NDArray[np.int64], dict[int, bool]]] = [(np.arange(len(tubes)), {})]
    while waiting:
        rows, answers = waiting.pop()
        if not len(rows):
            continue
        xp = Cases(answers)
        with np.errstate(invalid="ignore", over="ignore"):
            after, growth, axis = _stepped(loop, tubes.take(rows), leaf, xp)
        is_left = np.ones(len(rows), bool)
        for number, is_open in enumerate(xp.is_open):
            both = is_left & is_open
            waiting += [(rows[both], answers | {number: each}) for each in (True, False)]
            is_left &= ~both
        left = np.flatnonzero(is_left)
        yield rows[left], after.take(left), growth[left], axis[left]


def _arrives(loop: Loop, tubes: Tubes, judge: Judge, steps: int) -> NDArray[np.bool_]:
    """Which tubes arrive within a few steps where the claim wants them, as wide as they are."""
    found = judge.arrived(*_measured(judge, tubes))
    rest = np.flatnonzero(~found)
    if not steps or not len(rest):
        return found
    found[rest] = True
    for leaf, rows in pieces(loop, tubes.take(rest)):
        for some, after, _, _ in _cases(loop, tubes.take(rest[rows]), leaf):
            found[rest[rows[some]]] &= _arrives(loop, after, judge, steps - 1)
    return found


def _longest(tubes: Tubes) -> NDArray[np.int64]:
    """The longest axis of each tube."""
    return np.argmax(np.abs([each.coefficients for each in tubes.forms]).max(axis=0), axis=0)


def _split(tubes: Tubes, axis: NDArray[np.int64]) -> Tubes:
    """Each tube as two, halves along one of its axes."""
    rows = np.arange(len(tubes))
    forms = []
    for each in tubes.forms:
        half = each.coefficients[axis, rows] / 2
        coefficients = each.coefficients.copy()
        coefficients[axis, rows] = half
        centre = np.concatenate([each.centre - half, each.centre + half])
        both = np.concatenate([coefficients, coefficients], axis=1)
        radius = np.concatenate([each.radius, each.radius])
        forms.append(rounded(centre, both, radius, np.abs(centre)))
    return Tubes(tuple(forms))


def pieces(loop: Loop, tubes: Tubes) -> list[tuple[int, NDArray[np.int64]]]:
    """The tubes that may lead to each leaf."""
    seen = as_bounds(loop.plant.observe(FORMS, tubes.forms), len(tubes))
    noise = np.array(loop.noise or (0.0,) * loop.tree.n_features)
    low, high = seen.low - noise, seen.high + noise
    waiting, found = [(0, np.arange(len(tubes)))], []
    while waiting:
        node, rows = waiting.pop()
        feature, threshold, if_true, if_false = loop.tree.nodes[node]
        if feature < 0:
            found.append((node, rows))
            continue
        for child, may in (
            (if_true, ~(high[rows, feature] <= threshold)),
            (if_false, ~(low[rows, feature] > threshold)),
        ):
            if may.any():
                waiting.append((child, rows[may]))
    return found


def _stepped(
    loop: Loop, tubes: Tubes, leaf: int, xp: Cases
) -> tuple[Tubes, NDArray[np.float64], NDArray[np.int64]]:
    """The tubes one step on; the share by which what is not linear widened them; and the axis that
    bends them most."""
    state = [with_squares(each) for each in tubes.forms]
    given = [Interval(low, high) for low, high in loop.plant.disturbance_box]
    after = loop.plant.step(xp, state, loop.action(xp, state, leaf), given)
    forms = [form(each, state[0]) for each in after]
    plain = [each.without_squares() for each in forms]
    # What squares and products with each symbol add to each state: (states, symbols, N).
    bends = np.stack([np.abs(each.squares).sum(axis=0) for each in forms])
    bent = bends.sum(axis=1)
    if not loop.plant.disturbance and not any(loop.noise):
        bent = np.stack([each.radius for each in plain])  # splitting reduces all there is
    found, growth = _along_axes(plain, bent.T)
    widths = np.stack([np.maximum(each.linear, LEAST) for each in forms])
    share = np.nan_to_num(bends / widths[:, None]).sum(axis=0)
    return found, growth, np.where(growth < OPEN, np.argmax(share, axis=0), _longest(tubes))


def _along_axes(forms: list[Affine], bent: NDArray) -> tuple[Tubes, NDArray[np.float64]]:
    """The forms with their radius as part of the symbols, along the axes that these have, or along
    their set's own at right angles where these are almost flat; and the share of an axis that
    `bent`, the part of each state that splitting reduces, adds to it."""
    count = len(forms)
    given = np.stack([each.coefficients for each in forms]).transpose(2, 0, 1)
    radius = np.stack([each.radius for each in forms], axis=1)
    known = np.asarray((np.abs(given) < MOST).all(axis=(1, 2)) & (radius < MOST).all(axis=1))
    given = np.where(known[:, None, None], given, np.eye(count))
    radius, bent = np.where(known[:, None], radius, 0.0), np.where(known[:, None], bent, np.inf)
    length = np.maximum(np.sqrt(np.square(given).sum(axis=1)), LEAST * LEAST)
    axes = given / length[:, None, :]
    flat = ~(np.linalg.cond(axes) < FLAT)
    if flat.any():
        axes[flat] = np.linalg.eigh(given[flat] @ given[flat].transpose(0, 2, 1))[1]
    back = np.linalg.inv(axes)
    # Whatever the axes are: x = axes·(back·x) + (1 - axes·back)·x.
    along = np.abs(back @ given).sum(axis=2)
    reach = along + (np.abs(back) @ radius[:, :, None])[:, :, 0]
    own = axes * (reach * (1 + ROUNDING))[:, None, :]
    off = np.abs(np.eye(count) - axes @ back) + ROUNDING
    total = np.abs(given).sum(axis=2) + radius
    lost = (off @ total[:, :, None])[:, :, 0] + ROUNDING * np.abs(own).sum(axis=2)
    lost = np.where(known[:, None], lost * (1 + ROUNDING), np.inf)
    found = [Affine(each.centre, own[:, at].T, lost[:, at]) for at, each in enumerate(forms)]
    long = np.maximum(along, SHORT * along.max(axis=1, keepdims=True))
    growth = ((np.abs(back) @ bent[:, :, None])[:, :, 0] / np.maximum(long, LEAST)).max(axis=1)
    return Tubes(tuple(found)), growth


def judged(judge: Judge, tubes: Tubes, step: int) -> tuple[Tubes, bool]:
    """The tubes in which the claim is still open, and whether they keep to it."""
    going_on, is_shown = judge.rows(*_measured(judge, tubes), step)
    return tubes.take(np.flatnonzero(going_on)), is_shown


def _measured(judge: Judge, tubes: Tubes) -> tuple[NDArray, NDArray]:
    """Bounds of every quantity, `(N, quantities)` each."""
    n = len(judge.plant.states)
    values = as_bounds(judge.plant.measure(FORMS, tubes.forms[:n]), len(tubes))
    return values.low, values.high
