"""Proofs about a closed loop by ever finer grids, while the time lasts."""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.verify.cells import Grid
from crisptree.verify.claims import Claim, Judge
from crisptree.verify.loop import Boxes, Loop
from crisptree.verify.reach import Attempt, Limits, Prover
from crisptree.verify.simulate import natures, starts, states

EPISODES, LONGEST = 256, 1_000
FINER = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Cells along each state, from one attempt to the next."""
PIECES = (1, 16, 64, 256, 1024, 4096, 16384, 65536, 262144)
"""Pieces of the start, likewise."""
STRIDES = (1, 4, 8)
BELOW_A_CELL = 2.0**-8
"""The lattice of a cell's boxes, as a share of it."""


@dataclass(frozen=True)
class Cells:
    """A grid as a user asks for it; what is left open is tried from coarse to fine."""

    sizes: Mapping[str, float] = field(default_factory=dict)
    """The size of a cell along a state; 0 for cells that meet only where the tree changes."""
    stride: int | None = None
    """Steps between two covers."""
    full: tuple[str, ...] = ()
    """The states along which boxes are as wide as their cells."""


@dataclass(frozen=True)
class Visited:
    """What simulated episodes of a loop went through."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    late: NDArray[np.float64]
    """States `(N, S)` of the second halves."""


def visited(loop: Loop, claim: Claim, seed: int = 0) -> Visited:
    """The range of every state in simulated episodes, and what they come to in the long run."""
    rng = np.random.default_rng(seed)
    steps = min(LONGEST, LONGEST if claim.is_for_ever or claim.steps is None else claim.steps)
    nature = natures(loop, EPISODES, steps, rng)
    begun = starts(loop, claim, EPISODES, rng)
    low, high, late = begun.min(axis=0), begun.max(axis=0), []
    for step, now in enumerate(states(loop, begun, nature)):
        if not np.isfinite(now).all():
            break
        low, high = np.minimum(low, now.min(axis=0)), np.maximum(high, now.max(axis=0))
        if step > steps // 2 and step % 5 == 0:
            late.append(now)
    return Visited(low, high, np.concatenate(late) if late else begun)


def attempts(
    loop: Loop, judge: Judge, deadline: float, cells: Cells | None = None
) -> Iterator[Attempt]:
    """Attempts with ever finer grids, until one is a proof or the time is over."""
    cells = cells or Cells()
    seen = visited(loop, judge.claim)
    prover = Prover(loop, judge, Limits(deadline))
    for grid, stride in _grids(loop, judge.claim, seen, cells):
        found = prover.attempt(grid, stride)
        yield found
        if found.is_proof or time.monotonic() > deadline:
            return


def _grids(loop: Loop, claim: Claim, seen: Visited, cells: Cells) -> Iterator[tuple[Grid, int]]:
    """Grids and strides in the order of what they cost."""
    if cells.sizes:
        yield asked_grid(loop, cells, seen), cells.stride or 1
        return
    if claim.is_for_ever:
        for finer in FINER:
            for stride in STRIDES if cells.stride is None else (cells.stride,):
                yield even_grid(loop, seen, finer), stride
        return
    assert claim.steps is not None
    for finer, pieces in zip(FINER, PIECES, strict=True):
        if cells.stride is None:
            yield start_grid(loop, claim, seen, pieces), claim.steps
        yield even_grid(loop, seen, finer), cells.stride or 1


def start_grid(loop: Loop, claim: Claim, seen: Visited, pieces: int) -> Grid:
    """Lines that cut the start into so many pieces, and no others: what starts together is
    followed to the end without being joined with anything."""
    width = np.zeros(len(seen.low))
    width[: len(claim.start)] = claim.start[:, 1] - claim.start[:, 0]
    wide = max(1, int((width > 0).sum()))
    each = max(1, round(pieces ** (1 / wide)))
    sizes = [2.0 ** math.floor(math.log2(w / each)) if w > 0 else 0.0 for w in width]
    low, high = seen.low.copy(), seen.high.copy()
    low[: len(claim.start)], high[: len(claim.start)] = claim.start.T
    grid = _grid(loop, sizes, Visited(low, high, seen.late), (False,) * len(sizes))
    # A narrow lattice: what is rounded here is followed for long.
    units = tuple(
        min(unit, 2.0 ** math.floor(math.log2(size * 2.0**-12))) if size else unit
        for unit, size in zip(grid.units, sizes, strict=True)
    )
    return replace(grid, units=units)


def even_grid(loop: Loop, seen: Visited, cells: int) -> Grid:
    """So many cells along each state, over what was visited and half as much beside it, and a line
    wherever the tree's answer changes."""
    width = seen.high - seen.low
    sizes = [2.0 ** math.floor(math.log2(w / cells)) if w > 0 else 0.0 for w in width]
    return _grid(loop, sizes, seen, (False,) * len(sizes))


def asked_grid(loop: Loop, asked: Cells, seen: Visited) -> Grid:
    """The grid that a user describes."""
    names = loop.plant.state_names
    for name in (*asked.sizes, *asked.full):
        if name not in names:
            raise CrisptreeError(f"there is no state {name!r:.60}; there are {', '.join(names)}")
    sizes = [asked.sizes.get(name, 0.0) for name in names]
    return _grid(loop, sizes, seen, tuple(name in asked.full for name in names))


def _grid(loop: Loop, sizes: list[float], seen: Visited, is_full: tuple[bool, ...]) -> Grid:
    lines, units = [], []
    for at, (size, cuts) in enumerate(zip(sizes, loop.cuts(), strict=True)):
        own = set(cuts)
        if size > 0:
            spare = (seen.high[at] - seen.low[at]) / 2
            first = math.floor((seen.low[at] - spare) / size)
            last = math.ceil((seen.high[at] + spare) / size)
            own |= {step * size for step in range(first, last + 1)}
        lines.append(tuple(sorted(own)))
        scale = size or max(seen.high[at] - seen.low[at], abs(seen.high[at]), 2.0**-20)
        units.append(2.0 ** math.floor(math.log2(scale * BELOW_A_CELL)))
    return Grid(tuple(lines), is_full, tuple(units), 0.5 if loop.with_forms else 0.0)


def guess_of(seen: Visited, grid: Grid) -> Boxes:
    """The states of the long run, each with a little room."""
    room = 4 * np.array(grid.units)
    return Boxes(seen.late - room, seen.late + room)


def with_forms(loop: Loop, judge: Judge) -> Loop:
    """The loop with affine forms where they make a small box's image clearly narrower."""
    start = judge.claim.start
    centre, half = start.mean(axis=1), (start[:, 1] - start[:, 0]) / 16 + 1e-3
    extra = loop.plant.reset_box[len(start) :, 0]
    low, high = np.r_[centre - half, extra][None], np.r_[centre + half, extra][None]
    formed = replace(loop, with_forms=True)
    plain, narrow = loop.image(Boxes(low, high)), formed.image(Boxes(low, high))
    sizes = [(boxes.high - boxes.low).sum() for boxes in (plain, narrow)]
    return formed if sizes[1] < 0.9 * sizes[0] else loop


def sizes_of(text: str) -> dict[str, float]:
    """The sizes of cells from `angle 1/64, velocity 0.1`."""
    found = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, size = part.rpartition(" ")
        try:
            value = float(Fraction(size))
        except (ValueError, ZeroDivisionError):
            value = -1.0
        if not name or not 0 <= value < math.inf:
            raise CrisptreeError(
                f"--cells has {part!r:.60}; it must be a state and a size: angle 1/64"
            )
        found[name.strip()] = value
    return found
