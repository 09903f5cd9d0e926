"""Tubes: sets of states that remember where they started.

A box around the states of a step forgets how they depend on each other, and where a system turns
or swings the boxes grow though the states do not. A tube gives each state as a polynomial of the
start; what the polynomials leave out is a small box whose axes turn as the system does. So a piece
of the start is followed to the end, and where that shows too little the piece is halved. Where the
plant's equations have two cases, or the tree may decide in two ways, both are followed, with the
whole tube.
"""

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crisptree.verify.claims import Judge
from crisptree.verify.forms import FORMS, Cases, Form, form, symbols
from crisptree.verify.intervals import Interval
from crisptree.verify.loop import Boxes, Loop, as_bounds

DEGREE = 4
"""Of the polynomials."""
SPARE = 2.0**-7
"""The share by which the rest is made larger than it need be in each step, so that a checker whose
arithmetic is a little coarser here and there accepts the proof too."""
ROUNDING = 2.0**-44
"""Relative to the sizes in a frame, for all products and sums of a change of frames together."""
MOST = 1e12
"""A width beyond which nothing is known."""
MOST_WAYS = 64
"""Into how many tubes that decide differently a piece may lead before it is halved."""
BLOCK = 256
"""Tubes that are moved together: what they need lies in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Tubes:
    """One form a state. There are two symbols a state: the first ones stand for the start, the
    others for what the polynomials leave out."""

    forms: tuple[Form, ...]
    pieces: NDArray[np.int64]
    """The piece of the start from which each comes."""

    def __len__(self) -> int:
        return len(self.pieces)

    @staticmethod
    def of(boxes: Boxes) -> "Tubes":
        """One tube a box."""
        n, states = boxes.low.shape
        return Tubes(tuple(symbols(boxes.low, boxes.high, DEGREE, states)), np.arange(n))

    def take(self, rows: NDArray) -> "Tubes":
        return Tubes(tuple(each.take(rows) for each in self.forms), self.pieces[rows])

    @staticmethod
    def joined(parts: "list[Tubes]") -> "Tubes":
        forms = tuple(
            Form(
                column[0].shape,
                np.concatenate([each.terms for each in column], axis=1),
                np.concatenate([each.radius for each in column]),
            )
            for column in zip(*(part.forms for part in parts), strict=True)
        )
        return Tubes(forms, np.concatenate([part.pieces for part in parts]))

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Which tubes have bounds."""
        return np.all([np.abs(each.centre) + each.reach < MOST for each in self.forms], axis=0)

    @property
    def boxes(self) -> Boxes:
        return as_bounds(self.forms, len(self))

    @property
    def widest(self) -> NDArray[np.int64]:
        """The state at the start to which the tube's width is due most."""
        count = len(self.forms)
        shares = np.zeros((count, len(self)))
        for each in self.forms:
            powers = each.shape.exponents[:, :count]
            shares += powers.T @ np.abs(each.terms) / np.maximum(each.reach, 1e-300)
        return np.argmax(shares, axis=0)


def image(loop: Loop, tubes: Tubes, met: NDArray[np.bool_] | None = None) -> Tubes:
    """Tubes that hold every state one step after these, without bounds where nothing is known;
    `met[piece, leaf]` is set where a leaf may decide."""
    found = []
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        for first in range(0, len(tubes), BLOCK):
            block = tubes.take(np.arange(first, min(first + BLOCK, len(tubes))))
            for leaf, rows in _deciding(loop, block, met):
                found += _cases(loop, block.take(rows), leaf)
    return Tubes.joined(found) if found else tubes


def _deciding(
    loop: Loop, tubes: Tubes, met: NDArray[np.bool_] | None
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The tubes in which a leaf, or another one that does the same, may decide."""
    seen = as_bounds(loop.plant.observe(FORMS, tubes.forms), len(tubes))
    noise = np.array(loop.noise or (0.0,) * loop.tree.n_features)
    low, high = seen.low - noise, seen.high + noise
    waiting = [(0, np.ones(len(tubes), bool))]
    found: dict[tuple, tuple[int, NDArray[np.bool_]]] = {}
    while waiting:
        node, may = waiting.pop()
        feature, threshold, if_true, if_false = loop.tree.nodes[node]
        if not may.any():
            continue
        if feature >= 0:
            waiting.append((if_true, may & ~(high[:, feature] <= threshold)))
            waiting.append((if_false, may & ~(low[:, feature] > threshold)))
            continue
        if met is not None:
            met[tubes.pieces[may], node] = True
        does = (*np.ravel(loop.tree.action[node]).tolist(), *loop.tree.gains[node])
        leaf, others = found.get(does, (node, may))
        found[does] = leaf, may | others
    for leaf, may in found.values():
        yield leaf, np.flatnonzero(may)


def _cases(loop: Loop, tubes: Tubes, leaf: int) -> Iterator[Tubes]:
    """The tubes one step on, for every case of the plant's equations that there is in them."""
    waiting: list[tuple[Tubes, dict[int, bool]]] = [(tubes, {})]
    while waiting:
        tubes, answers = waiting.pop()
        xp = Cases(answers)
        given = [Interval(low, high) for low, high in loop.plant.disturbance_box]
        state = list(tubes.forms)
        after = loop.plant.step(xp, state, loop.action(xp, state, leaf), given)
        is_left = np.ones(len(tubes), bool)
        for number, is_open in enumerate(xp.is_open):
            both = np.flatnonzero(is_left & is_open)
            if len(both):
                waiting += [(tubes.take(both), answers | {number: each}) for each in (True, False)]
                is_left[both] = False
        left = np.flatnonzero(is_left)
        forms = [form(each, state[0]).take(left) for each in after]
        yield Tubes(_turned(forms), tubes.pieces[left])


def _turned(forms: list[Form]) -> tuple[Form, ...]:
    """The forms with their radius, and all products with symbols of the rest, as part of these
    symbols: along axes at right angles, the first of which is that of the longest rest."""
    shape, count = forms[0].shape, len(forms)
    own = shape.symbols[shape.starts :]
    others = shape.has_rests.copy()
    others[own] = False
    given = np.stack([each.terms[own] for each in forms]).transpose(2, 0, 1)
    rest = np.stack(
        [each.radius + np.abs(each.terms[others]).sum(axis=0) for each in forms], axis=1
    )
    known = np.asarray(np.isfinite(given).all(axis=(1, 2)) & np.isfinite(rest).all(axis=1))
    given = np.where(known[:, None, None], given, 0.0)
    rest = np.where(known[:, None], rest, 0.0)
    by_length = np.argsort(-np.square(given).sum(axis=1), axis=1)
    axes = np.linalg.qr(np.take_along_axis(given, by_length[:, None, :], axis=2))[0]
    back = axes.transpose(0, 2, 1)
    # Whatever the axes are: x = axes·(back·x) + (1 - axes·back)·x.
    along = np.abs(back @ given).sum(axis=2) + (np.abs(back) @ rest[:, :, None])[:, :, 0]
    longer = axes * (along * (1 + SPARE))[:, None, :]
    off = np.abs(np.eye(count) - axes @ back) + ROUNDING
    total = np.abs(given).sum(axis=2) + rest
    lost = (off @ total[:, :, None])[:, :, 0] + ROUNDING * np.abs(longer).sum(axis=2)
    lost = np.where(known[:, None], lost * (1 + ROUNDING), np.inf)
    # Of what is known exactly nothing is lost.
    exact = known[:, None] & (total == 0)
    longer, lost = np.where(exact[:, :, None], 0.0, longer), np.where(exact, 0.0, lost)
    found = []
    for at, each in enumerate(forms):
        terms = each.terms.copy()
        terms[others] = 0.0
        terms[own] = longer[:, at].T
        found.append(Form(shape, terms, lost[:, at]))
    return tuple(found)


@dataclass(eq=False)
class Piece:
    """A box of starts, followed as a whole or in halves."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    axis: int = -1
    """The state along which it is halved; -1 if it is not."""
    halves: tuple["Piece", ...] = ()

    def halve(self, axis: int) -> "tuple[Piece, Piece]":
        middle = self.low[axis] / 2 + self.high[axis] / 2
        at = np.arange(len(self.low)) == axis
        self.axis = axis
        self.halves = below, above = (
            Piece(self.low, np.where(at, middle, self.high)),
            Piece(np.where(at, middle, self.low), self.high),
        )
        return below, above


@dataclass
class TubeAttempt:
    """A start that is cut into pieces until a tube from each shows the claim."""

    loop: Loop
    judge: Judge
    pieces: list[Piece]
    """Of which the start consists, before any is halved."""
    open: deque[Piece] = field(init=False)
    """Those of which nothing is shown yet."""
    leaves: set[int] = field(default_factory=set)
    """The leaves that any state on the way may reach."""
    shown_steps: int = 0
    """The steps for which the claim was shown."""

    def __post_init__(self) -> None:
        self.open = deque(self.pieces)

    is_for_ever, reason = False, "tubes show too little"

    @property
    def is_proof(self) -> bool:
        return not self.open

    @property
    def boxes(self) -> int:
        return sum(axis < 0 for axis in self.halved)

    @property
    def halved(self) -> list[int]:
        """The axis along which each piece is halved or -1: each before its halves, the lower half
        and all in it before the upper one."""
        found, waiting = [], self.pieces[::-1]
        while waiting:
            piece = waiting.pop()
            found.append(piece.axis)
            waiting += piece.halves[::-1]
        return found

    def go_on(self, pieces: int, deadline: float) -> None:
        """Follow up to so many more pieces, and the halves of those that show too little."""
        while self.open and pieces > 0:
            now = [self.open.popleft() for _ in range(min(len(self.open), pieces, BLOCK))]
            pieces -= len(now)
            followed = self._followed(now, deadline)
            if followed is None:
                self.open.extendleft(reversed(now))
                return
            axes, met, step = followed
            if not self.shown_steps:
                self.shown_steps = step
            for piece, axis, leaves in zip(now, axes.tolist(), met, strict=True):
                if axis < 0:
                    self.leaves.update(np.flatnonzero(leaves).tolist())
                else:
                    self.open.extend(piece.halve(axis))

    def _followed(
        self, pieces: list[Piece], deadline: float
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_], int] | None:
        """The axes along which pieces should be halved, or -1 where the claim is shown; which
        leaves each meets; and up to which step all are shown. None if the time is over."""
        claim = self.judge.claim
        assert claim.steps is not None
        low, high = np.stack([each.low for each in pieces]), np.stack([e.high for e in pieces])
        tubes = Tubes.of(Boxes(low, high))
        axes, met = (
            np.full(len(pieces), -1),
            np.zeros((len(pieces), len(self.loop.tree.nodes)), bool),
        )
        shown_steps = claim.steps
        for step in range(claim.steps + 1):
            before = tubes
            if step:
                tubes = image(self.loop, tubes, met)
            going_on, shown = judged(self.judge, tubes, step)
            failed = ~(shown & tubes.is_known)
            if claim.kind == "reaches" and step == claim.steps:
                failed |= going_on
            ways = np.bincount(tubes.pieces[going_on], minlength=len(pieces))
            has_failed = ways > MOST_WAYS
            has_failed[tubes.pieces[failed]] = True
            if has_failed.any():
                shown_steps = min(shown_steps, step - 1)
                bad = np.flatnonzero(has_failed[before.pieces])
                axes[before.pieces[bad]] = before.take(bad).widest
            tubes = tubes.take(np.flatnonzero(going_on & ~has_failed[tubes.pieces]))
            if not len(tubes):
                break
            if time.monotonic() > deadline:
                return None
        return axes, met, max(shown_steps, 0)


def judged(judge: Judge, tubes: Tubes, step: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The tubes in which the claim is still open, and those that keep to it."""
    n = len(judge.plant.states)
    with np.errstate(invalid="ignore", over="ignore"):
        values = as_bounds(judge.plant.measure(FORMS, tubes.forms[:n]), len(tubes))
    return judge.rows(values.low, values.high, step)
