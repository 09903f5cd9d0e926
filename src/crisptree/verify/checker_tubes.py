"""The checker's own tubes: pieces of the start followed to the end without being boxed.

Each state is a polynomial of the start, whose variables are the first of a `Basis`; what the
polynomials do not say is `axes · t` with every t in [-1, 1], the second variables. After each step
everything else that is not known exactly is put along new axes, at right angles, that follow the
old ones. Where a condition in the plant's equations is open over a tube, or the tree may decide in
two ways, the whole tube is followed both ways.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.verify.checker_claim import Asked
from crisptree.verify.checker_covers import Rejected, Rows
from crisptree.verify.checker_numbers import Answer, Number, hull_of
from crisptree.verify.checker_polynomials import POLYNOMIALS, Polynomial, polynomial, starting
from crisptree.verify.checker_step import Steps

LOSS = 1e-13
"""The share of a sum of products that rounding may lose, many times over."""
LARGEST = 1e10
TOGETHER, MOST_TUBES, MOST_PIECES = 128, 100_000, 10_000_000
"""Tubes that are moved at a time; the most that pieces followed together may become; pieces."""


def pieces(halved: Any, low: NDArray, high: NDArray) -> Rows:
    """The boxes cut as a certificate says: the state along which a piece is halved or a dot, each
    piece before its halves. However they are cut, they are the boxes."""
    words = str(halved).split()
    if len(words) > MOST_PIECES:
        raise Rejected("it has too many pieces")
    waiting = [(a.copy(), b.copy()) for a, b in zip(low, high, strict=True)][::-1]
    lows, highs = [], []
    for word in words:
        if not waiting:
            raise Rejected("it cuts more pieces than there are")
        a, b = waiting.pop()
        if word == ".":
            lows.append(a)
            highs.append(b)
            continue
        axis = int(word)
        if not 0 <= axis < low.shape[1]:
            raise Rejected("it halves a state that is not there")
        middle, below, above = (a[axis] + b[axis]) / 2, b.copy(), a.copy()
        below[axis] = above[axis] = middle
        waiting += [(above, b), (a, below)]
    if waiting:
        raise Rejected("a piece of the start is missing")
    return np.reshape(lows, (-1, low.shape[1])), np.reshape(highs, (-1, low.shape[1]))


@dataclass(frozen=True)
class Tube:
    """A polynomial for each state."""

    states: list[Polynomial]

    @property
    def count(self) -> int:
        return len(self.states[0].rest)

    def take(self, rows: Any) -> "Tube":
        return Tube([each.take(rows) for each in self.states])

    @property
    def bounds(self) -> Rows:
        return hull_of(self.states, self.count)


def follow(steps: Steps, asked: Asked, low: NDArray, high: NDArray, deadline: float) -> None:
    """Refuse unless every state that boxes lead to keeps to the claim, up to its last step, and the
    claim is done with by then."""
    tube, last = Tube(starting(low, high)), asked.steps
    if last is None or asked.kind == "settles":
        raise Rejected("tubes show nothing for ever")
    for step in range(last + 1):
        tube = image(steps, tube) if step else tube
        if tube.count > MOST_TUBES or not (np.abs(tube.bounds) < LARGEST).all():
            raise Rejected(f"a tube spreads too far by step {step}")
        tube = tube.take(asked.rows(*_measured(asked, tube), step))
        if not tube.count:
            return
        if time.monotonic() > deadline:
            raise TimeoutError
    if not asked.is_done(last):
        raise Rejected("not everything arrives")


def _measured(asked: Asked, tube: Tube) -> Rows:
    """Bounds of every quantity."""
    states = tube.states[: len(asked.plant.states)]
    return hull_of(asked.plant.measure(POLYNOMIALS, states), tube.count)


def image(steps: Steps, tube: Tube) -> Tube:
    """Tubes that hold every state one step after these."""
    parts = []
    with np.errstate(all="ignore"):
        for first in range(0, tube.count, TOGETHER):
            some = tube.take(slice(first, first + TOGETHER))
            for leaf, rows in _by_action(steps, some):
                parts += [part.states for part in _moved(steps, leaf, some.take(rows))]
    return Tube(
        [
            Polynomial(
                state[0].basis,
                np.concatenate([each.coefficients for each in state], axis=1),
                np.concatenate([each.rest for each in state]),
            )
            for state in zip(*parts, strict=True)
        ]
    )


def _by_action(steps: Steps, tube: Tube) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Leaves that act differently, and the tubes that may reach each or one that acts alike."""
    low, high = hull_of(steps.plant.observe(POLYNOMIALS, tube.states), tube.count)
    noise = np.array([steps.noise_on(each) for each in range(low.shape[1])])
    low, high = low - noise - LOSS * noise, high + noise + LOSS * noise
    tree = steps.tree
    groups: dict[str, list[tuple[int, NDArray[np.int64]]]] = {}
    waiting = [(0, np.arange(tube.count))]
    while waiting:
        node, rows = waiting.pop()
        feature, threshold, if_true, if_false = tree.nodes[node]
        if not len(rows):
            continue
        if feature < 0:
            steps.reached.add(node)
            acts = f"{tree.action[node].tolist()} {tree.gains[node]}"
            groups.setdefault(acts, []).append((node, rows))
            continue
        waiting.append((if_true, rows[~(high[rows, feature] <= threshold)]))
        waiting.append((if_false, rows[~(low[rows, feature] > threshold)]))
    for group in groups.values():
        yield group[0][0], np.unique(np.concatenate([rows for _, rows in group]))


class Told:
    """The checker's polynomials, with answers to a plant's conditions that are told, where one is.

    `first` is, row by row, the number of the first condition that is open, or -1.
    """

    def __init__(self, answers: tuple[bool | None, ...], n: int) -> None:
        self.answers, self.asked, self.first = answers, 0, np.full(n, -1)

    def __getattr__(self, name: str) -> Any:
        return getattr(POLYNOMIALS, name)

    def where(self, condition: Any, one: Any, other: Any) -> Any:
        told = self.answers[self.asked] if self.asked < len(self.answers) else None
        if told is not None:
            condition = Answer(np.array(told), np.array(told))
        elif isinstance(condition, Answer):
            is_open = condition.may & ~condition.must
            self.first = np.where(is_open & (self.first < 0), self.asked, self.first)
        self.asked += 1
        return POLYNOMIALS.where(condition, one, other)


def _moved(steps: Steps, leaf: int, tube: Tube) -> Iterator[Tube]:
    """The tubes one step on, for every way in which the plant's conditions can be answered."""
    acting = [Number(low, high) for low, high in steps.plant.disturbance_box]
    waiting: list[tuple[Tube, tuple[bool | None, ...]]] = [(tube, ())]
    while waiting:
        tube, told = waiting.pop()
        xp = Told(told, tube.count)
        after = steps.next(xp, leaf, tube.states, acting)
        # The first condition that is open is followed both ways.
        for each in np.unique(xp.first[xp.first >= 0]):
            before = (*told, *[None] * (each - len(told)))
            both = tube.take(xp.first == each)
            waiting += [(both, (*before, answer)) for answer in (True, False)]
        states = [polynomial(each, tube.states[0]) for each in after]
        yield turned(Tube(states).take(xp.first < 0))


def turned(tube: Tube) -> Tube:
    """The tubes with all that is not known exactly along axes of their own."""
    basis = tube.states[0].basis
    axes = np.stack([each.coefficients[basis.second].T for each in tube.states], axis=1)
    rest = np.stack(
        [np.abs(each.coefficients[basis.mixed]).sum(axis=0) + each.rest for each in tube.states],
        axis=1,
    )
    known = np.asarray(np.isfinite(axes).all(axis=(1, 2)) & np.isfinite(rest).all(axis=1))
    axes, rest = np.where(known[:, None, None], axes, 0.0), np.where(known[:, None], rest, 0.0)
    longest_first = np.argsort(np.square(axes).sum(axis=1), axis=1)[:, ::-1]
    frame = np.linalg.qr(np.take_along_axis(axes, longest_first[:, None, :], axis=2))[0]
    # A vector x is frame · (frameᵀ · x), but for what frame · frameᵀ is off from 1.
    across = frame.transpose(0, 2, 1)
    unit = np.eye(len(tube.states))
    off = np.abs(frame @ across - unit) + LOSS
    extent = np.abs(across @ axes).sum(axis=2) + (np.abs(across) @ rest[:, :, None])[:, :, 0]
    total = np.abs(axes).sum(axis=2) + rest
    left = (off @ total[:, :, None])[:, :, 0] * (1 + LOSS)
    longer = frame * (extent * (1 + LOSS))[:, None, :]
    left = np.where(known[:, None], left + LOSS * np.abs(longer).sum(axis=2), np.inf)
    # A state without any rest, such as an action that waits, stays without.
    certain = (total == 0) & known[:, None]
    longer, left = np.where(certain[:, :, None], 0.0, longer), np.where(certain, 0.0, left)
    found = []
    for at, each in enumerate(tube.states):
        coefficients = each.coefficients.copy()
        coefficients[basis.mixed] = 0.0
        coefficients[basis.second] = longer[:, at].T
        found.append(Polynomial(basis, coefficients, left[:, at]))
    return Tube(found)
