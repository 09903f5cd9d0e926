"""Covers as a certificate stores them, read and searched by the checker's own code."""

import base64
import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Lower and upper corners, `(N, S)` each."""
MOST_BOXES = 20_000_000
MOST_PIECES = 20_000_000


class Rejected(Exception):  # noqa: N818  an answer, not a mistake
    """Why a certificate proves nothing."""


@dataclass(frozen=True)
class Layer:
    cells: NDArray[np.int64]
    """`(N,)`: the cell of each box, rising."""
    low: NDArray[np.float64]
    high: NDArray[np.float64]


@dataclass(frozen=True)
class Covers:
    """The covers of a proof, and the grid they share."""

    edges: list[NDArray[np.float64]]
    layers: list[Layer]

    @staticmethod
    def of(proof: Mapping[str, Any], n_states: int) -> "Covers":
        edges = [np.array([-np.inf, *map(float, lines), np.inf]) for lines in proof["lines"]]
        units = [float(unit) for unit in proof["units"]]
        if len(edges) != n_states or len(units) != n_states:
            raise Rejected(f"its grid is not one of {n_states} states")
        for lines, unit in zip(edges, units, strict=True):
            if not (np.diff(lines) > 0).all() or not 0 < unit < np.inf:
                raise Rejected("its grid's lines do not rise")
        layers = [_layer(packed, edges, units) for packed in proof["layers"]]
        if not layers:
            raise Rejected("it has no cover")
        return Covers(edges, layers)

    @property
    def count(self) -> int:
        return len(self.layers)

    @property
    def total(self) -> int:
        return sum(len(layer.cells) for layer in self.layers)

    def must_hold(self, layer: int, low: NDArray, high: NDArray) -> None:
        """Refuse unless every row lies in the cover, cell by cell."""
        if not len(low):
            return
        firsts, counts = [], []
        for at, edges in enumerate(self.edges):
            first = np.searchsorted(edges, low[:, at], side="right") - 1
            last = np.searchsorted(edges, high[:, at], side="left") - 1
            firsts.append(first)
            counts.append(np.maximum(last - first, 0) + 1)
        pieces = np.prod(np.stack(counts).astype(np.float64), axis=0)
        if not np.isfinite(low).all() or not np.isfinite(high).all() or pieces.sum() > MOST_PIECES:
            raise Rejected("a step leads too far")
        rows = np.arange(len(low))
        cells = np.zeros(len(low), np.int64)
        numbers = []
        for first, count, edges in zip(firsts, counts, self.edges, strict=True):
            many = count[rows]
            offset = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
            rows, cells = np.repeat(rows, many), np.repeat(cells, many)
            numbers = [np.repeat(each, many) for each in numbers]
            numbers.append(first[rows] + offset)
            cells = cells * len(edges) + numbers[-1]
        known = self.layers[layer]
        at = np.minimum(np.searchsorted(known.cells, cells), max(len(known.cells) - 1, 0))
        if not len(known.cells) or not (known.cells[at] == cells).all():
            raise Rejected("a step leads into a cell without a box")
        for state, (number, edges) in enumerate(zip(numbers, self.edges, strict=True)):
            least = np.maximum(low[rows, state], edges[number])
            most = np.minimum(high[rows, state], edges[number + 1])
            if (least < known.low[at, state]).any() or (most > known.high[at, state]).any():
                raise Rejected("a step leads out of a cell's box")


def _layer(packed: Mapping[str, Any], edges: list[NDArray], units: list[float]) -> Layer:
    count, bounded = packed["boxes"], list(packed["bounded"])
    if type(count) is not int or not 0 <= count <= MOST_BOXES:
        raise Rejected("a cover has no sensible number of boxes")
    if bounded != sorted({int(each) for each in bounded}) or bounded[-1:] > [len(edges) - 1]:
        raise Rejected("a cover bounds states that are not there")
    columns = 1 + 2 * len(bounded)
    size = columns * count * 8
    unpacker = lzma.LZMADecompressor()
    try:
        data = unpacker.decompress(base64.b85decode(packed["data"]), max_length=size + 1)
    except (lzma.LZMAError, EOFError) as error:
        raise Rejected(f"a cover cannot be unpacked ({error})") from None
    if len(data) != size:
        raise Rejected("a cover has another number of boxes than it says")
    planes = np.frombuffer(data, np.uint8).reshape(columns, 8, count).transpose(0, 2, 1)
    steps = np.ascontiguousarray(planes).view("<i8").reshape(columns, count)
    numbers = np.cumsum(steps.astype(np.int64), axis=1)
    cells = numbers[0]
    widths = [len(each) for each in edges]
    most = int(np.prod([float(width) for width in widths]))
    if most > 2**62 or (count and (cells[0] < 0 or cells[-1] >= most)):
        raise Rejected("a cover has cells that are not there")
    if count and not (np.diff(cells) > 0).all():
        raise Rejected("a cover's cells do not rise")
    low, high = np.empty((count, len(edges))), np.empty((count, len(edges)))
    rest = cells
    for state in reversed(range(len(edges))):
        rest, number = np.divmod(rest, widths[state])
        if (number >= widths[state] - 1).any():
            raise Rejected("a cover has cells that are not there")
        low[:, state], high[:, state] = edges[state][number], edges[state][number + 1]
    for column, state in enumerate(bounded):
        least, above = numbers[1 + 2 * column], numbers[2 + 2 * column]
        low[:, state] = np.maximum(low[:, state], least * units[state])
        high[:, state] = np.minimum(high[:, state], above * units[state])
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
        raise Rejected("a cover has boxes without ends")
    return Layer(cells, low, high)
