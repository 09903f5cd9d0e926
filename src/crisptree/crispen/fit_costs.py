"""Trees fitted to the costs of all actions, where the teacher knows them.

CART is told one right action for each state. A teacher that knows what every action costs leaves
more room: among equally good actions the one that needs fewer questions is taken, and errors are
made where they cost least.
"""

import heapq
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.rounding import rounded_down
from crisptree.envs.task import Task

NOTHING = 1e-9
"""Costs below this share of the greatest count as none."""


class Split(NamedTuple):
    saved: float
    """How much less the two sides cost than the node, each with its best action."""
    apart: float
    """How far the costs of the two sides differ; decides between equals."""
    feature: int
    threshold: float


def grown(rows: NDArray, costs: NDArray[np.float64], n_leaves: int, task: Task) -> CrispTree:
    """A tree that costs little, grown best first; `costs` are those of each action in each row."""
    least = NOTHING * max(float(costs.max(initial=0.0)), 1e-300)
    order = count()
    root: dict[str, Any] = {"rows": np.arange(len(rows))}
    waiting = [(*_priority(root, rows, costs, least), next(order), root)]
    leaves = 1
    while waiting and leaves < n_leaves:
        *_, node = heapq.heappop(waiting)
        if node["split"] is None:
            continue
        at, split = node["rows"], node["split"]
        goes_true = rows[at, split.feature] > split.threshold
        node["true"], node["false"] = ({"rows": part} for part in (at[goes_true], at[~goes_true]))
        for child in (node["true"], node["false"]):
            priority = _priority(child, rows, costs, least)
            heapq.heappush(waiting, (*priority, next(order), child))
        leaves += 1
    return CrispTree.from_nested(_nested(root, costs), **task.signature).simplify()


def _priority(
    node: dict[str, Any], rows: NDArray, costs: NDArray, least: float
) -> tuple[float, float]:
    """The order of growing: by what the best split saves, then by how far the sides differ."""
    node["split"] = split = _best_split(rows[node["rows"]], costs[node["rows"]], least)
    return (0.0, 0.0) if split is None else (-split.saved, -split.apart)


def _best_split(rows: NDArray, costs: NDArray, least: float) -> Split | None:
    """The split that saves most; None if one action is best for all rows."""
    total = costs.sum(0)
    now = total.min()
    best: Split | None = None
    if now <= least or len(rows) < 2:
        return None
    for feature in range(rows.shape[1]):
        order = np.argsort(rows[:, feature], kind="stable")
        values = rows[order, feature]
        ends = np.flatnonzero(values[:-1] < values[1:])
        if not len(ends):
            continue
        below = np.cumsum(costs[order], 0)[ends]
        above = total - below
        n_below = (ends + 1)[:, None]
        saved = np.maximum(0.0, now - below.min(1) - above.min(1))
        saved = np.where(saved <= least, 0.0, saved)
        apart = (below**2 / n_below + above**2 / (len(rows) - n_below)).sum(1)
        at = int(np.lexsort((apart, saved))[-1])
        if best is None or (saved[at], apart[at]) > (best.saved, best.apart):
            middle = (float(values[ends[at]]) + float(values[ends[at] + 1])) / 2
            threshold = max(float(rounded_down(np.array(middle))), float(values[ends[at]]))
            best = Split(float(saved[at]), float(apart[at]), feature, threshold)
    return best


def _nested(node: dict[str, Any], costs: NDArray) -> Any:
    """As `CrispTree.from_nested` takes it; each leaf does what costs least there."""
    if "true" not in node:
        return int(costs[node["rows"]].sum(0).argmin())
    split, sides = node["split"], (_nested(node[side], costs) for side in ("true", "false"))
    return split.feature, split.threshold, *sides
