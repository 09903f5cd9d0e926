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
from crisptree.verify.falsify import beyond
from crisptree.verify.loop import Boxes, Loop
from crisptree.verify.reach import Attempt, Limits, Prover, start_boxes
from crisptree.verify.simulate import natures, starts, states
from crisptree.verify.tubes import Piece, TubeAttempt

EPISODES, LONGEST = 256, 1_000
FINER = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Cells along each state, from one attempt to the next."""
PIECES = (1, 16, 64, 256, 1024, 4096, 16384, 65536, 262144)
"""Pieces of the start, likewise."""
STRIDES = (1, 4, 8)
BELOW_A_CELL = 2.0**-8
"""The lattice of a cell's boxes, as a share of it; of the range of a state that has no cells."""
BELOW_AN_ASKED_CELL = 2.0**-3
GUESSED_EPISODES, GUESSED_STEPS = 2_500, 500


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
) -> Iterator[Attempt | TubeAttempt]:
    """Attempts with ever finer grids, until one is a proof or the time is over."""
    cells = cells or Cells()
    claim = judge.claim
    seen = visited(loop, claim)
    loop = with_forms(loop, judge)
    prover = Prover(loop, judge, Limits(deadline))
    with_grids = bool(cells.sizes) or claim.is_for_ever
    for attempt in (_with_grids if with_grids else _from_pieces)(prover, cells, seen):
        yield attempt
        if attempt.is_proof or time.monotonic() > deadline:
            return


def _with_grids(prover: Prover, cells: Cells, seen: Visited) -> Iterator[Attempt]:
    """With the grid that a user asks for, or with all of them in the order of what they cost."""
    loop, judge = prover.loop, prover.judge
    if not cells.sizes:
        for finer in FINER:
            for stride in STRIDES if cells.stride is None else (cells.stride,):
                yield prover.attempt(even_grid(loop, seen, finer), stride)
        return
    grid, stride = asked_grid(loop, cells, seen), cells.stride or 1
    if judge.claim.is_for_ever:
        yield prover.attempt(grid, stride, guess=guessed(loop, judge, grid, stride))
    yield prover.attempt(grid, stride)


def _from_pieces(prover: Prover, cells: Cells, seen: Visited) -> Iterator[Attempt | TubeAttempt]:
    """Pieces of the start are followed as tubes, and as boxes where forms gain nothing; in between
    covers are tried. Where forms gain nothing tubes get no more time than all else."""
    loop, claim, deadline = prover.loop, prover.claim, prover.limits.deadline
    assert claim.steps is not None
    start = start_boxes(loop, claim)
    tubes = TubeAttempt(
        loop, prover.judge, [Piece(*ends) for ends in zip(start.low, start.high, strict=True)]
    )
    spent = math.inf if loop.with_forms else 1.0
    for finer, pieces in zip(FINER, PIECES, strict=True):
        if cells.stride is None:
            tubes.go_on(pieces, min(deadline, time.monotonic() + spent))
            yield tubes
        begun = time.monotonic()
        if cells.stride is None and not loop.with_forms:
            yield prover.attempt(start_grid(loop, claim, seen, pieces), claim.steps)
        yield prover.attempt(even_grid(loop, seen, finer), cells.stride or 1)
        spent += time.monotonic() - begun


def start_grid(loop: Loop, claim: Claim, seen: Visited, pieces: int) -> Grid:
    """Lines that cut the start into so many pieces, and no others: what starts together is
    followed to the end without being joined with anything."""
    width = np.zeros(len(seen.low))
    width[: len(claim.start)] = claim.start[:, 1] - claim.start[:, 0]
    wide = max(1, int((width > 0).sum()))
    each = max(1, round(pieces ** (1 / wide)))
    cells = [2.0 ** math.floor(math.log2(w / each)) if w > 0 else 0.0 for w in width]
    sizes = [0.0] * len(cells) if pieces == 1 else cells
    low, high = seen.low.copy(), seen.high.copy()
    low[: len(claim.start)], high[: len(claim.start)] = claim.start.T
    grid = _grid(loop, sizes, Visited(low, high, seen.late), (False,) * len(sizes))
    # A narrow lattice: what is rounded here is followed for long.
    units = tuple(
        min(unit, size * 2.0**-12) if size else unit
        for unit, size in zip(grid.units, cells, strict=True)
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
    is_full = tuple(name in asked.full for name in names)
    return _grid(loop, sizes, seen, is_full, BELOW_AN_ASKED_CELL)


def _grid(
    loop: Loop,
    sizes: list[float],
    seen: Visited,
    is_full: tuple[bool, ...],
    share: float = BELOW_A_CELL,
) -> Grid:
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
        units.append(2.0 ** math.floor(math.log2(scale * (share if size else BELOW_A_CELL))))
    return Grid(tuple(lines), is_full, tuple(units), 0.5 if loop.with_forms else 0.0)


def guessed(loop: Loop, judge: Judge, grid: Grid, stride: int, seed: int = 0) -> Boxes:
    """States that covers with these cells are likely to reach: those of episodes that are pushed
    aside by up to a cell after each stride, as joining in a cell may do. It only saves time."""
    rng = np.random.default_rng(seed)
    plant, n = judge.plant, GUESSED_EPISODES
    now = starts(loop, judge.claim, n, rng)
    size = np.array([_cell(lines) for lines in grid.lines])
    way, kind = rng.choice([-1.0, 1.0], now.shape), np.arange(n)[:, None] % 4
    found = []
    for _ in range(math.ceil(GUESSED_STEPS / stride)):
        *_, after = states(loop, now, natures(loop, n, stride, rng))
        ways = [rng.choice([-1.0, 1.0], now.shape), way, way * np.sign(after)]
        push = np.choose(kind, [*ways, way * np.sign(after[:, :1])])
        after = after + push * size * rng.uniform(0.3, 0.8, (n, 1))
        values = plant.quantities_of(after[:, : len(plant.states)])
        fine = np.isfinite(after).all(axis=1) & (beyond(values, judge.claim.region) < 0)
        now = np.where(fine[:, None], after, starts(loop, judge.claim, n, rng))
        found.append(now)
    late = np.concatenate(found)
    return Boxes(late - size / 2, late + size / 2)


def _cell(lines: tuple[float, ...]) -> float:
    """The usual distance of a state's lines; 0 if there are too few to tell."""
    return float(np.median(np.diff(lines))) if len(lines) > 2 else 0.0


def with_forms(loop: Loop, judge: Judge) -> Loop:
    """The loop with forms where they make a small box's image clearly narrower."""
    start = judge.claim.start
    centre, half = start.mean(axis=1), (start[:, 1] - start[:, 0]) / 16 + 1e-3
    extra = loop.plant.reset_box[len(start) :, 0]
    low, high = np.r_[centre - half, extra][None], np.r_[centre + half, extra][None]
    formed = replace(loop, with_forms=True)
    plain, narrow = loop.image(Boxes(low, high)), formed.image(Boxes(low, high))
    sizes = [(boxes.high - boxes.low).sum() for boxes in (plain, narrow)]
    return formed if sizes[1] < 0.9 * sizes[0] else loop


def cells_of(text: str, stride: int | None = None) -> Cells:
    """Cells from `angle 1/64 whole, velocity 0.1`."""
    found, full = {}, []
    for part in filter(None, map(str.strip, text.split(","))):
        said = part.removesuffix(" whole")
        name, _, size = said.rpartition(" ")
        try:
            value = float(Fraction(size))
        except (ValueError, ZeroDivisionError):
            value = -1.0
        if not name or not 0 <= value < math.inf:
            raise CrisptreeError(
                f"--cells has {part!r:.60}; it must be a state and a size: angle 1/64"
            )
        found[name.strip()] = value
        if said != part:
            full.append(name.strip())
    return Cells(found, stride, tuple(full))
