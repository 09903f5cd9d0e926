"""The checker's own tubes: pieces of the start followed for many steps without being boxed.

A tube is all of `middle + axes · s` with every s in [-1, 1]. By Taylor's theorem in s a step leads
to `f(middle) + slopes · s + ½ s · curves · s`: the slopes are taken at the middle, the curves
bounded over the whole tube. What is not linear is put along the new axes, which grow by it. Where
a condition in the plant's equations is open over a tube, the whole tube is followed both ways.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.verify.checker_claim import Asked
from crisptree.verify.checker_covers import Rejected
from crisptree.verify.checker_curves import CURVED, Curved, pairs
from crisptree.verify.checker_numbers import NUMBERS, Answer, Number, hull_of, number
from crisptree.verify.checker_step import Steps

LEAST = 1e-13
LOSS = 1e-13
"""The share of a sum of products that rounding may lose, many times over."""
FLAT, SHORT = 10.0, 0.1
GROWTH, MOST_HALVINGS, HALVED_FIRST, NEAR = 0.24, 8, 2, 3
"""The share by which what is not linear may lengthen an axis in a step (a tenth of the longest
counts, where it is shorter) before a tube is halved; how often in one step; how often for the
tree's decision alone; how many steps before it arrives a tube is not halved any more."""
BLOCK = 1_024
MOST_TUBES = 2_000_000


@dataclass(frozen=True)
class Tube:
    """`middle` is `(N, S)`, `axes` `(N, S, S)`: a column for each s."""

    middle: NDArray[np.float64]
    axes: NDArray[np.float64]

    def take(self, rows: NDArray) -> "Tube":
        return Tube(self.middle[rows], self.axes[rows])

    def columns(self) -> list[Number]:
        """The states' bounds."""
        reach = np.abs(self.axes).sum(axis=2) * (1 + LOSS)
        low, high = self.middle - reach, self.middle + reach
        spare = LOSS * (np.abs(self.middle) + reach)
        return [Number(a, b) for a, b in zip((low - spare).T, (high + spare).T, strict=True)]


def tube_of(low: NDArray, high: NDArray) -> Tube:
    """One tube a box, a little wider."""
    middle = low / 2 + high / 2
    half = np.maximum(high - middle, middle - low) * (1 + LOSS) + LOSS * np.abs(middle) + LEAST
    return Tube(middle, half[:, :, None] * np.eye(low.shape[1]))


def follow(steps: Steps, asked: Asked, low: NDArray, high: NDArray, stride: int) -> None:
    """Refuse unless every state that boxes lead to keeps to the claim, up to its last step, and the
    claim is done with by then."""
    tube = tube_of(low, high)
    for step in range(1, stride + 1):
        if asked.is_beyond(step) or not len(tube.middle):
            break
        tube = image(steps, tube, asked)
        if len(tube.middle) > MOST_TUBES or not np.isfinite(tube.axes).all():
            raise Rejected(f"a tube spreads too far by step {step}")
        least, most = _measured(asked, tube)
        tube = tube.take(asked.rows(least, most, step))
    if len(tube.middle) and not asked.is_done(stride):
        raise Rejected("not everything arrives")


def _measured(asked: Asked, tube: Tube) -> tuple[NDArray, NDArray]:
    """Bounds of every quantity: over the states' own, and by the mean value theorem in s."""
    measure, n_states = asked.plant.measure, len(asked.plant.states)
    n, count = tube.middle.shape
    hull = tube.columns()[:n_states]
    low, high = hull_of(measure(NUMBERS, hull), n)
    if low.shape[1] == n_states:
        return low, high
    slopes = [[(way, way) for way in tube.axes[:, i].T] for i in range(n_states)]
    sloped = [Number(x.low, x.high, way) for x, way in zip(hull, slopes, strict=True)]
    middle = [Number(each, each) for each in tube.middle.T[:n_states]]
    least, most = hull_of(measure(NUMBERS, middle), n)
    one, zero = np.ones((n, count)), np.zeros((n, count))
    for at, value in enumerate(measure(NUMBERS, sloped)):
        if at >= n_states and isinstance(value, Number) and value.slopes is not None:
            ends = value.around(least[:, at], most[:, at], -one, one, zero)
            low[:, at] = np.maximum(low[:, at], ends[0])
            high[:, at] = np.minimum(high[:, at], ends[1])
    return low, high


def image(steps: Steps, tube: Tube, asked: Asked | None = None) -> Tube:
    """Tubes that hold every state one step after these; those that a step would bend too much are
    halved first, unless they are about to be where the claim wants them."""
    waiting, parts = [(each, 0) for each in _blocks(tube)], []
    while waiting:
        here, times = waiting.pop()
        by_leaf = _by_leaf(steps, here)
        ways = np.bincount(
            np.concatenate([rows for _, rows in by_leaf]), minlength=len(here.middle)
        )
        if times < HALVED_FIRST and (ways > 1).any():
            both = here.take(ways > 1)
            longest = np.argmax(np.abs(both.axes).max(axis=1), axis=1)
            waiting += [(each, times + 1) for each in _blocks(_halved(both, longest))]
            by_leaf = [(leaf, rows[ways[rows] == 1]) for leaf, rows in by_leaf]
        for leaf, rows in by_leaf:
            for some, after, growth, axis in _cases(steps, leaf, here.take(rows)):
                bent = ~(growth <= GROWTH) & (times < MOST_HALVINGS)
                if asked is not None and asked.kind == "reaches" and bent.any():
                    with np.errstate(invalid="ignore", over="ignore"):
                        bent[bent] = ~_is_near(steps, asked, after.take(bent), NEAR)
                parts.append(after.take(~bent))
                if bent.any():
                    halves = _halved(here.take(rows[some[bent]]), axis[bent])
                    waiting += [(each, times + 1) for each in _blocks(halves)]
    return Tube(np.concatenate([p.middle for p in parts]), np.concatenate([p.axes for p in parts]))


def _cases(
    steps: Steps, leaf: int, tube: Tube
) -> Iterator[tuple[NDArray[np.int64], Tube, NDArray[np.float64], NDArray[np.int64]]]:
    """The rows of tubes, and what `_moved` says of them, for every way in which the plant's
    conditions can be answered."""
    waiting: list[tuple[NDArray[np.int64], tuple[bool | None, ...]]] = []
    waiting.append((np.arange(len(tube.middle)), ()))
    while waiting:
        rows, told = waiting.pop()
        if not len(rows):
            continue
        with np.errstate(invalid="ignore", over="ignore"):
            after, growth, axis, first = _moved(steps, leaf, tube.take(rows), told)
        # The first condition that is open is followed both ways.
        for each in np.unique(first[first >= 0]):
            before = (*told, *[None] * (each - len(told)))
            waiting += [(rows[first == each], (*before, answer)) for answer in (True, False)]
        fine = first < 0
        yield rows[fine], after.take(fine), growth[fine], axis[fine]


def _is_near(steps: Steps, asked: Asked, tube: Tube, ahead: int) -> NDArray[np.bool_]:
    """Which tubes are in the claim's region, or lead into it within a few steps."""
    found = asked.is_reached(*_measured(asked, tube))
    others = np.flatnonzero(~found)
    if ahead and len(others):
        found[others] = True
        for leaf, rows in _by_leaf(steps, tube.take(others)):
            for some, after, *_ in _cases(steps, leaf, tube.take(others[rows])):
                found[others[rows[some]]] &= _is_near(steps, asked, after, ahead - 1)
    return found


def _blocks(tube: Tube) -> list[Tube]:
    return [
        Tube(tube.middle[at : at + BLOCK], tube.axes[at : at + BLOCK])
        for at in range(0, len(tube.middle), BLOCK)
    ]


def _halved(tube: Tube, axis: NDArray[np.int64]) -> Tube:
    rows = np.arange(len(axis))
    half, axes = tube.axes[rows, :, axis] / 2, tube.axes.copy()
    axes[rows, :, axis] = half
    middle = np.concatenate([tube.middle - half, tube.middle + half])
    # The new middles are rounded.
    rest = LOSS * np.abs(middle) + LEAST
    return _along_axes(middle, np.concatenate([axes, axes]), rest, rest)[0]


def _by_leaf(steps: Steps, tube: Tube) -> list[tuple[int, NDArray[np.int64]]]:
    """The tubes that may reach each leaf."""
    low, high = hull_of(steps.plant.observe(NUMBERS, tube.columns()), len(tube.middle))
    noise = np.array([steps.noise_on(each) for each in range(low.shape[1])])
    low, high = low - noise, high + noise
    waiting, found = [(0, np.arange(len(tube.middle)))], []
    while waiting:
        node, rows = waiting.pop()
        feature, threshold, if_true, if_false = steps.tree.nodes[node]
        if not len(rows):
            continue
        if feature < 0:
            found.append((node, rows))
            continue
        waiting.append((if_true, rows[~(high[rows, feature] <= threshold)]))
        waiting.append((if_false, rows[~(low[rows, feature] > threshold)]))
    return found


class Told:
    """An arithmetic in which a plant's conditions have the answers that are told, where one is.

    `first` is, row by row, the number of the first condition that is open, or -1.
    """

    def __init__(self, xp: Any, answers: tuple[bool | None, ...], n: int) -> None:
        self.xp, self.answers, self.asked, self.first = xp, answers, 0, np.full(n, -1)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.xp, name)

    def where(self, condition: Any, one: Any, other: Any) -> Any:
        told = self.answers[self.asked] if self.asked < len(self.answers) else None
        if told is not None:
            condition = Answer(np.array(told), np.array(told))
        elif isinstance(condition, Answer):
            is_open = condition.may & ~condition.must
            self.first = np.where(is_open & (self.first < 0), self.asked, self.first)
        self.asked += 1
        return self.xp.where(condition, one, other)


def _moved(
    steps: Steps, leaf: int, tube: Tube, told: tuple[bool | None, ...]
) -> tuple[Tube, NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """The tubes one step on, the share by which they grew, the axis that bends them most, and the
    first condition that is open or -1."""
    n, count = tube.middle.shape
    acting = [Number(low, high) for low, high in steps.plant.disturbance_box]
    hull = tube.columns()
    directions = [np.ascontiguousarray(tube.axes[:, i].T) for i in range(count)]
    at_middle = [
        Number(tube.middle[:, i], tube.middle[:, i], [(d, d) for d in directions[i]])
        for i in range(count)
    ]
    zero = [(np.array(0.0), np.array(0.0))]
    rounding = [Number(each.low, each.high, zero) for each in hull]
    straight = np.zeros((len(pairs(count)[0]), n))
    bent = [
        Curved(hull[i], Number(directions[i], directions[i]), Number(straight, straight))
        for i in range(count)
    ]
    curves = Told(CURVED, told, n)
    found = zip(
        steps.next(Told(NUMBERS, told, n), leaf, at_middle, acting),
        steps.next(Told(NUMBERS, told, n), leaf, rounding, acting),
        steps.next(curves, leaf, bent, acting),
        strict=True,
    )
    middle, axes, rest = np.empty((n, count)), np.empty((n, count, count)), np.zeros((n, count))
    bends, totals = np.zeros((count, n)), np.zeros((n, count))
    for i, (point, inexact, curve) in enumerate(found):
        point, inexact = number(point), number(inexact)
        middle[:, i] = point.low / 2 + point.high / 2
        rest[:, i] = (point.high - point.low) + 2 * np.asarray(inexact.error)
        for j in range(count):
            low, high = point.slopes[j] if point.slopes else (0.0, 0.0)
            axes[:, i, j] = (np.asarray(low) + high) / 2
            rest[:, i] += np.asarray(high) - low
        total, by_axis = _bend(curve, count, n)
        rest[:, i] += total
        totals[:, i] = total
        bends += by_axis / np.maximum(np.abs(axes[:, i]).sum(axis=1), LEAST)
    rest = rest * (1 + LOSS) + LOSS * np.abs(middle)
    after, growth = _along_axes(middle, axes, rest, totals)
    longest = np.argmax(np.abs(tube.axes).max(axis=1), axis=1)
    most = np.argmax(np.nan_to_num(bends), axis=0)
    return after, growth, np.where(growth < 1.0, most, longest), curves.first


def _bend(curve: object, count: int, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How far ½ s · curves · s can lie from zero, and the part of each axis in it."""
    by_axis = np.zeros((count, n))
    if not isinstance(curve, Curved):
        return np.zeros(n), by_axis
    i, j = pairs(count)
    sizes = np.broadcast_to(curve.curves.size, (len(i), n)) * np.where(i == j, 0.5, 1.0)[:, None]
    np.add.at(by_axis, i, sizes)
    np.add.at(by_axis, j, sizes)
    return sizes.sum(axis=0), by_axis


def _along_axes(
    middle: NDArray, axes: NDArray, rest: NDArray, bent: NDArray
) -> tuple[Tube, NDArray[np.float64]]:
    """`middle + axes · s` and up to `rest` besides, as a tube: along the same axes, made longer,
    or along others at right angles where those are almost flat; and the share of an axis that
    `bent`, the part of the rest that halving reduces, adds to it."""
    known = np.asarray(np.isfinite(axes).all(axis=(1, 2)) & np.isfinite(rest).all(axis=1))
    unit = np.eye(middle.shape[1])
    safe = np.where(known[:, None, None], axes, unit)
    rest = np.where(known[:, None], rest, 0.0)
    length = np.maximum(np.sqrt(np.square(safe).sum(axis=1)), LEAST * LEAST)
    ways = safe / length[:, None, :]
    with np.errstate(invalid="ignore"):
        flat = ~(np.linalg.cond(ways) < FLAT)
    if flat.any():  # the longest way through the set, the longest across it, …
        ways[flat] = np.linalg.svd(safe[flat])[0]
    inverse = np.linalg.inv(ways)
    # The true inverse is inverse · (1 + d) with |d| up to off / (1 - off), off being how far
    # ways · inverse is from 1.
    off = np.abs(ways @ inverse - unit).sum(axis=2).max(axis=1) + LOSS
    total = (np.abs(safe).sum(axis=2) + rest).max(axis=1)
    before = np.abs(inverse @ safe).sum(axis=2)
    along = before + (np.abs(inverse) @ rest[:, :, None])[:, :, 0]
    along += np.abs(inverse).sum(axis=2) * (2 * off * total)[:, None]
    if (off > 0.25).any():
        raise Rejected("a tube's axes are too flat")
    longer = ways * (along * (1 + LOSS))[:, None, :]
    long = np.maximum(before, SHORT * before.max(axis=1, keepdims=True))
    growth = ((np.abs(inverse) @ bent[:, :, None])[:, :, 0] / np.maximum(long, LEAST)).max(axis=1)
    return Tube(middle, np.where(known[:, None, None], longer, np.inf)), growth
