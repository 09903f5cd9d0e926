"""Where a tree's closed loop can be: boxes that hold every state, step after step.

Each step cuts the boxes along the tree's thresholds, so that in every piece one action is taken,
moves each piece by the physics, and joins neighbours when there are more boxes than allowed. What
is joined grows; nothing is ever lost.
"""

import time
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.verify.boxes import Box
from crisptree.verify.cartpole import physics, step_boxes
from crisptree.verify.floats import neighbours

Boxes = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Lower and upper corners, `(N, 4)` each."""

CELL = np.array([0.1, 0.1, 0.01, 0.1])
"""How far apart states must be, feature by feature, to count as equally far apart."""
FINEST = 0.02
COARSER = 1.3


@dataclass(frozen=True)
class Reached:
    """For how many steps every state certainly kept to the goal."""

    steps: int
    out_of_time: bool


def stays_inside(
    tree: CrispTree, start: Box, goal: Box, steps: int, *, most_boxes: int, deadline: float
) -> Reached:
    """How long every state from `start` certainly keeps to `goal`; once an episode has ended,
    nothing more is asked of it."""
    limits = physics().limits
    boxes = _cut_into_pieces(start, most_boxes)
    fineness = FINEST
    for done in range(steps):
        if time.monotonic() > deadline:
            return Reached(done, True)
        low, high = _step(tree, boxes)
        if not ((low >= goal[:, 0]) & (high <= goal[:, 1])).all():
            return Reached(done, False)
        goes_on = (low <= limits).all(axis=1) & (high >= -limits).all(axis=1)
        boxes = np.maximum(low, -limits)[goes_on], np.minimum(high, limits)[goes_on]
        boxes, fineness = _joined(boxes, most_boxes, fineness)
    return Reached(steps, False)


def _cut_into_pieces(start: Box, most_boxes: int) -> Boxes:
    """The start as a grid of boxes, an eighth of those allowed at most."""
    pieces = max(1, int((most_boxes / 8) ** (1 / len(start))))
    shares = np.linspace(0.0, 1.0, pieces + 1)
    edges = start[:, :1] + (start[:, 1:] - start[:, :1]) * shares
    edges[:, 0], edges[:, -1] = start[:, 0], start[:, 1]
    grid = np.stack(np.meshgrid(*[np.arange(pieces)] * len(start), indexing="ij"), -1)
    at = grid.reshape(-1, len(start))
    features = np.arange(len(start))
    return edges[features, at], edges[features, at + 1]


def _step(tree: CrispTree, boxes: Boxes) -> Boxes:
    moved = [
        step_boxes(low, high, int(tree.action[leaf]))
        for leaf, (low, high) in _by_leaf(tree, boxes)
        if len(low)
    ]
    if not moved:
        return boxes
    lows, highs = zip(*moved, strict=True)
    return np.concatenate(lows), np.concatenate(highs)


def _by_leaf(tree: CrispTree, boxes: Boxes) -> list[tuple[int, Boxes]]:
    """The pieces of the boxes that lead to each leaf.

    The tree sees the state rounded to float32. Of two neighbouring float32 around a threshold a
    state rounds to the one below it at most up to the middle between them, and to the one above at
    least from there on; both pieces get the middle itself.
    """
    found: list[tuple[int, Boxes]] = []
    waiting = [(0, boxes)]
    while waiting:
        node, (low, high) = waiting.pop()
        feature, threshold, if_true, if_false = tree.nodes[node]
        if feature < 0:
            found.append((node, (low, high)))
            continue
        middle = _middle(threshold)
        is_true, is_false = high[:, feature] >= middle, low[:, feature] <= middle
        raised, lowered = low[is_true], high[is_false]
        raised[:, feature] = np.maximum(raised[:, feature], middle)
        lowered[:, feature] = np.minimum(lowered[:, feature], middle)
        waiting += [(if_true, (raised, high[is_true])), (if_false, (low[is_false], lowered))]
    return found


@cache
def _middle(threshold: float) -> float:
    """Between the largest float32 that is not above the threshold and the smallest that is."""
    _, below, beside, after = neighbours(Fraction(threshold), np.float32)
    return float((below + (after if beside == below else beside)) / 2)


def _joined(boxes: Boxes, most_boxes: int, fineness: float) -> tuple[Boxes, float]:
    """At most `most_boxes` boxes that hold the same states, and how coarse the cells had to be."""
    if len(boxes[0]) <= most_boxes:
        return boxes, fineness
    fineness = max(FINEST, fineness / COARSER**2)
    joined = _by_cell(boxes, fineness)
    while len(joined[0]) > most_boxes:
        fineness *= COARSER
        joined = _by_cell(boxes, fineness)
    return joined, fineness


def _by_cell(boxes: Boxes, fineness: float) -> Boxes:
    """One box for all whose middles lie in the same cell of a grid."""
    low, high = boxes
    cells = np.floor((low + high) / (2 * CELL * fineness)).astype(np.int64)
    order = np.lexsort(cells.T)
    changes = (np.diff(cells[order], axis=0) != 0).any(axis=1)
    first = np.concatenate([[0], np.flatnonzero(changes) + 1])
    return np.minimum.reduceat(low[order], first), np.maximum.reduceat(high[order], first)
