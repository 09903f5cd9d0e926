"""Covers: sets of states as boxes in the cells of a grid, at most one box a cell.

Along some states a box is as wide as its cell; along the others it is as narrow as it can be, on a
lattice of `unit`. So boxes that meet in a cell are joined, sets stay finite however long a system
runs, and nothing is ever lost. Numbers on the lattice are exact floats, which makes covers short to
store.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crisptree.verify.loop import Boxes

MOST_PIECES = 4_000_000
"""Beyond so many pieces of one set of boxes the cells are too fine for them."""


class TooManyPiecesError(Exception):
    """The boxes are much larger than the cells."""


@dataclass(frozen=True, eq=False)
class Cover:
    """Boxes by cell: `keys (N,)` rise; `low` and `high` are `(N, S)`."""

    keys: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def boxes(self) -> Boxes:
        return Boxes(self.low, self.high)

    def take(self, rows: NDArray) -> "Cover":
        return Cover(self.keys[rows], self.low[rows], self.high[rows])


@dataclass(frozen=True)
class Grid:
    """Lines that cut every state's axis into cells; the outer cells have no end."""

    lines: tuple[tuple[float, ...], ...]
    """State by state, where cells meet; rising."""
    is_full: tuple[bool, ...]
    """Along which states a box is as wide as its cell (the two outer cells excepted)."""
    units: tuple[float, ...]
    """The lattice of the other bounds; powers of two."""
    spare: float = 0.0
    """The room that boxes get besides, as a share of a unit, for a checker that may find them a
    little wider."""

    @cached_property
    def edges(self) -> list[NDArray[np.float64]]:
        return [np.array([-np.inf, *lines, np.inf]) for lines in self.lines]

    @cached_property
    def room(self) -> NDArray[np.float64]:
        is_full, units = np.array(self.is_full), np.array(self.units)
        return self.spare * np.where(is_full, units * 2.0**-19, units)

    @cached_property
    def strides(self) -> list[int]:
        """What one cell further along each state adds to a key."""
        found, product = [], 1
        for edges in reversed(self.edges):
            found.append(product)
            product *= len(edges)
        return found[::-1]

    def cover(self, boxes: Boxes) -> Cover:
        """The boxes with their room, cut along the grid and joined in each cell."""
        if not len(boxes):
            return Cover(np.empty(0, np.int64), boxes.low, boxes.high)
        boxes = Boxes(boxes.low - self.room, boxes.high + self.room)
        first, last, counts = [], [], np.ones(len(boxes), np.int64)
        for at, edges in enumerate(self.edges):
            low = np.searchsorted(edges, boxes.low[:, at], side="right") - 1
            high = np.searchsorted(edges, boxes.high[:, at], side="left") - 1
            first.append(low)
            last.append(np.maximum(low, high))
            counts = counts * (last[-1] - low + 1)
        total = int(counts.sum())
        if total > MOST_PIECES:
            raise TooManyPiecesError(f"{total:,} pieces")
        rows = np.repeat(np.arange(len(boxes)), counts)
        rest = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        keys = np.zeros(total, np.int64)
        cells = []
        for low, high, stride in zip(first, last, self.strides, strict=True):
            rest, along = np.divmod(rest, (high - low + 1)[rows])
            cells.append(low[rows] + along)
            keys += stride * cells[-1]
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(keys[order]) != 0])
        of_cell = order[starts]
        lows, highs = [], []
        for at, edges in enumerate(self.edges):
            bottom, top = edges[cells[at][of_cell]], edges[cells[at][of_cell] + 1]
            has_ends = np.isfinite(bottom) & np.isfinite(top)
            if self.is_full[at] and has_ends.all():
                lows.append(bottom)
                highs.append(top)
                continue
            unit = self.units[at]
            low, high = boxes.low[:, at][rows[order]], boxes.high[:, at][rows[order]]
            least, most = np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)
            is_full = has_ends & self.is_full[at]
            narrow = np.maximum(np.floor(least / unit) * unit, bottom)
            lows.append(np.where(is_full, bottom, narrow))
            narrow = np.minimum(np.ceil(most / unit) * unit, top)
            highs.append(np.where(is_full, top, narrow))
        return Cover(keys[of_cell], np.stack(lows, 1), np.stack(highs, 1))

    def cells_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """`(N, S)`: the number of each key's cell along each state."""
        found, rest = [], keys
        for stride in self.strides:
            at, rest = np.divmod(rest, stride)
            found.append(at)
        return np.stack(found, 1)


def joined(covers: Sequence[Cover]) -> Cover:
    """One cover of all, joined in each cell."""
    covers = [cover for cover in covers if len(cover)] or list(covers[:1])
    if len(covers) == 1:
        return covers[0]
    keys = np.concatenate([cover.keys for cover in covers])
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(keys[order]) != 0])
    low = np.concatenate([cover.low for cover in covers])[order]
    high = np.concatenate([cover.high for cover in covers])[order]
    return Cover(
        keys[order][starts],
        np.minimum.reduceat(low, starts, axis=0),
        np.maximum.reduceat(high, starts, axis=0),
    )


def grown(cover: Cover, by: Cover) -> tuple[Cover, NDArray[np.int64]]:
    """The cover joined with another, and the rows of it that changed or are new."""
    if not len(by):
        return cover, np.empty(0, np.int64)
    at = np.minimum(np.searchsorted(cover.keys, by.keys), len(cover) - 1)
    known = cover.keys[at] == by.keys
    old, here = at[known], by.take(known)
    grows = (here.low < cover.low[old]).any(axis=1) | (here.high > cover.high[old]).any(axis=1)
    low, high = cover.low.copy(), cover.high.copy()
    low[old] = np.minimum(low[old], here.low)
    high[old] = np.maximum(high[old], here.high)
    new = by.take(~known)
    changed = np.zeros(len(cover) + len(new), bool)
    changed[old[grows]] = True
    changed[len(cover) :] = True
    keys = np.concatenate([cover.keys, new.keys])
    order = np.argsort(keys, kind="stable")
    both = Cover(keys, np.concatenate([low, new.low]), np.concatenate([high, new.high])).take(order)
    return both, np.flatnonzero(changed[order])
