"""Trees fitted by alternating optimisation (Carreira-Perpiñán and Tavallali 2018).

CART chooses each question once, before it knows what will stand below. Here every question in turn
becomes the best one for what stands below it now: the states that come to the node are divided so
that each goes to the side that serves it better. Questions that become needless go, and leaves that
serve different needs are split in their stead. A sweep over all questions never makes a tree worse.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.nested import Leaf as CrispLeaf
from crisptree.crisp.nested import columns
from crisptree.crisp.rounding import rounded_down
from crisptree.crisp.signature import Actions
from crisptree.crispen.agreement import ranges
from crisptree.envs.task import Task

BINS = 128
"""Values of each feature that questions may ask for, besides those that the tree asks for."""
SMALLEST_LEAF = 5
"""Least states on either side of a new question."""
SWEEPS = 20
"""Most sweeps in a row."""
MOST_CELLS, FEWEST_ROWS = 320_000, 4_000
"""Most numbers (states times features) that are looked at, but at least so many states."""
NOTHING = 1e-9
"""Less than this share of all costs is no gain."""


@runtime_checkable
class Targets(Protocol):
    """What the leaves of a tree should do. Whatever a leaf costs follows from sums over its
    states."""

    sums: NDArray[np.float64]
    """`(rows, numbers)`: what is summed."""

    def cost(self, sums: NDArray[np.float64]) -> Any:
        """What the best leaf costs, for sums `(…, numbers)`."""
        ...

    def best(self, sums: NDArray[np.float64]) -> NDArray:
        """What the best leaf does."""
        ...

    def costs(self, rows: NDArray[np.int64], action: NDArray) -> NDArray[np.float64]:
        """What a leaf with this action costs in each row."""
        ...

    def taken(self, rows: NDArray[np.int64]) -> "Targets":
        """Those of some rows."""
        ...


@dataclass(frozen=True)
class ChoiceCosts(Targets):
    """The costs of all choices in each row: those of the first part, then the next part's."""

    sums: NDArray[np.float64]
    starts: tuple[int, ...] = (0,)
    """The number of each part's first column."""

    def cost(self, sums: NDArray[np.float64]) -> Any:
        return np.minimum.reduceat(sums, self.starts, axis=-1).sum(-1)

    def best(self, sums: NDArray[np.float64]) -> NDArray:
        parts = np.split(sums, self.starts[1:])
        return np.array([int(part.argmin()) for part in parts])

    def costs(self, rows: NDArray[np.int64], action: NDArray) -> NDArray[np.float64]:
        return self.sums[rows[:, None], np.asarray(self.starts) + action].sum(1)

    def taken(self, rows: NDArray[np.int64]) -> "ChoiceCosts":
        return replace(self, sums=self.sums[rows])


@dataclass(frozen=True)
class Vectors(Targets):
    """Real vectors; a leaf costs its squared distances from them, each with its weight."""

    sums: NDArray[np.float64]
    """The weight, the weighted vector, and the weighted square of its length."""

    @staticmethod
    def of(vectors: NDArray, weights: NDArray | None = None) -> "Vectors":
        weight = np.ones(len(vectors)) if weights is None else np.asarray(weights, np.float64)
        square = weight * np.square(vectors).sum(1)
        return Vectors(np.column_stack([weight, weight[:, None] * vectors, square]))

    def cost(self, sums: NDArray[np.float64]) -> Any:
        weight = np.maximum(sums[..., 0], 1e-300)
        return np.maximum(0.0, sums[..., -1] - np.square(sums[..., 1:-1]).sum(-1) / weight)

    def best(self, sums: NDArray[np.float64]) -> NDArray:
        return sums[1:-1] / max(float(sums[0]), 1e-300)

    def costs(self, rows: NDArray[np.int64], action: NDArray) -> NDArray[np.float64]:
        weight, weighted, square = np.split(self.sums[rows], (1, self.sums.shape[1] - 1), axis=1)
        apart = square - 2 * weighted @ action[:, None] + weight * np.square(action).sum()
        return np.maximum(0.0, apart[:, 0])

    def taken(self, rows: NDArray[np.int64]) -> "Vectors":
        return Vectors(self.sums[rows])


def targets_of(
    actions: Actions,
    labels: NDArray,
    weights: NDArray | None = None,
    regrets: NDArray | None = None,
) -> Targets:
    """Targets from a teacher's actions, or from what each choice costs (`regrets`), if that is
    known."""
    if actions.kind == "box":
        return Vectors.of(np.asarray(labels, np.float64) / ranges(actions), weights)
    is_one = actions.kind == "discrete"
    sizes = [len(each) for each in ((actions.names,) if is_one else actions.choices)]
    starts = tuple(np.cumsum([0, *sizes[:-1]]).tolist())
    if regrets is not None:
        return ChoiceCosts(np.asarray(regrets, np.float64), starts)
    labels = np.asarray(labels, np.int64).reshape(len(labels), -1)
    wrong = np.concatenate(
        [column[:, None] != np.arange(n) for column, n in zip(labels.T, sizes, strict=True)], 1
    ).astype(np.float64)
    if weights is not None:
        wrong *= np.asarray(weights)[:, None]
    return ChoiceCosts(wrong, starts)


@dataclass(frozen=True)
class _Leaf:
    action: NDArray


@dataclass(frozen=True)
class _Question:
    """TRUE if the feature's bin is above `edge`."""

    feature: int
    edge: int
    if_true: "_Node"
    if_false: "_Node"


_Node = _Leaf | _Question


def alternated(
    starts: Sequence[CrispTree],
    states: NDArray,
    targets: Targets,
    n_leaves: int,
    task: Task,
    rng: np.random.Generator,
) -> CrispTree:
    """The tree of at most `n_leaves` leaves that costs least after sweeps, of those that begin with
    each of the starts."""
    states = starts[0].columns(states)
    most = max(FEWEST_ROWS, MOST_CELLS // states.shape[1])
    if len(states) > most:
        rows = rng.choice(len(states), most, replace=False)
        states, targets = states[rows], targets.taken(rows)
    fit = _Fit(states, targets, n_leaves, starts)
    root, _ = min((fit.swept(fit.read(tree)) for tree in starts), key=lambda each: each[1])
    return fit.tree(root, task)


class _Fit:
    """States in bins, with their targets."""

    def __init__(
        self, states: NDArray, targets: Targets, n_leaves: int, trees: Sequence[CrispTree]
    ) -> None:
        self._targets, self._n_leaves = targets, n_leaves
        self._all, self._n_features = np.arange(len(states)), states.shape[1]
        self._edges = [_edges(states[:, j], j, trees) for j in range(self._n_features)]
        self._n_bins = max(len(edges) for edges in self._edges) + 1
        pairs = zip(self._edges, states.T, strict=True)
        self._bins = np.stack([np.searchsorted(edges, x) for edges, x in pairs], 1)
        self._cells = self._bins + self._n_bins * np.arange(self._n_features)
        lengths = np.array([len(edges) for edges in self._edges])
        self._is_edge = np.arange(self._n_bins) < lengths[:, None]
        self._nothing = NOTHING * float(targets.cost(targets.sums.sum(0)))

    def read(self, tree: CrispTree, node: int = 0) -> _Node:
        """A crisp tree with its thresholds as edges."""
        if tree.feature[node] < 0:
            action = np.atleast_1d(tree.action[node])
            is_box = tree.actions.kind == "box"
            return _Leaf(action / ranges(tree.actions) if is_box else action)
        feature = int(tree.feature[node])
        edge = int(np.searchsorted(self._edges[feature], tree.threshold[node]))
        children = (self.read(tree, int(child[node])) for child in (tree.if_true, tree.if_false))
        return _Question(feature, edge, *children)

    def tree(self, root: _Node, task: Task) -> CrispTree:
        """The crisp tree for the task."""

        def opened(node: _Node):
            if isinstance(node, _Question):
                threshold = float(self._edges[node.feature][node.edge])
                return node.feature, threshold, node.if_true, node.if_false
            if task.actions.kind == "box":
                return CrispLeaf(tuple((node.action * ranges(task.actions)).tolist()))
            choices = tuple(node.action.tolist())
            return CrispLeaf(choices[0] if task.actions.kind == "discrete" else choices)

        return CrispTree(**columns(root, opened), **task.signature).simplify()

    def swept(self, root: _Node) -> tuple[_Node, float]:
        """The tree after sweeps, with as many leaves as it may have, and what it costs."""
        cost = np.inf
        for _ in range(SWEEPS):
            other = self._grown(self._improved(root, self._all))
            other_cost = float(self._costs(other, self._all).sum())
            if other_cost >= cost - self._nothing:
                break
            root, cost = other, other_cost
        return root, cost

    def _parts(
        self, node: _Node, rows: NDArray[np.int64]
    ) -> Iterator[tuple[_Node, NDArray[np.int64]]]:
        """Every node with the rows that come to it."""
        yield node, rows
        if isinstance(node, _Question):
            goes_true = self._bins[rows, node.feature] > node.edge
            yield from self._parts(node.if_true, rows[goes_true])
            yield from self._parts(node.if_false, rows[~goes_true])

    def _costs(self, node: _Node, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """What the tree costs in each row."""
        if isinstance(node, _Leaf):
            return self._targets.costs(rows, node.action)
        goes_true = self._bins[rows, node.feature] > node.edge
        costs = np.empty(len(rows))
        costs[goes_true] = self._costs(node.if_true, rows[goes_true])
        costs[~goes_true] = self._costs(node.if_false, rows[~goes_true])
        return costs

    def _improved(self, node: _Node, rows: NDArray[np.int64]) -> _Node:
        """The node after a sweep over what stands below it and over its own question."""
        if not len(rows):
            return node
        if isinstance(node, _Leaf):
            return _Leaf(self._targets.best(self._targets.sums[rows].sum(0)))
        goes_true = self._bins[rows, node.feature] > node.edge
        if_true = self._improved(node.if_true, rows[goes_true])
        if_false = self._improved(node.if_false, rows[~goes_true])
        extra = self._costs(if_true, rows) - self._costs(if_false, rows)
        matters = np.flatnonzero(extra)
        if not len(matters):
            return if_false
        below = self._below(rows[matters], extra[matters])
        all_true, now = float(extra.sum()), float(extra[goes_true].sum())
        # What TRUE for all above an edge costs more than FALSE for all; then for all up to it.
        above = np.where(self._is_edge, all_true - below, np.inf)
        up_to = np.where(self._is_edge, below, np.inf)
        best = min(float(above.min()), float(up_to.min()))
        if min(all_true, 0.0) <= min(best, now):  # one side serves all as well
            return if_true if all_true < 0.0 else if_false
        if best >= now - self._nothing:
            return replace(node, if_true=if_true, if_false=if_false)
        is_above = float(above.min()) <= best
        feature, edge = divmod(int((above if is_above else up_to).argmin()), self._n_bins)
        sides = (if_true, if_false) if is_above else (if_false, if_true)
        return _Question(feature, edge, *sides)

    def _below(self, rows: NDArray[np.int64], values: NDArray) -> NDArray[np.float64]:
        """The sum of the values of the rows up to each edge, `(features, bins)`."""
        shape = (self._n_features, self._n_bins)
        cells, spread = self._cells[rows].ravel(), np.repeat(values, self._n_features)
        return np.bincount(cells, spread, shape[0] * shape[1]).reshape(shape).cumsum(1)

    def _grown(self, root: _Node) -> _Node:
        """The tree with leaves split where it saves most, as long as there is room."""
        leaves = [part for part in self._parts(root, self._all) if isinstance(part[0], _Leaf)]
        room = self._n_leaves - len(leaves)
        splits = self._splits(leaves) if room > 0 else []
        while room > 0 and splits:
            best = max(splits, key=lambda each: each.saved)
            root, room = _with(root, best.leaf, best.question), room - 1
            _, *sides = self._parts(best.question, best.rows)
            splits = [each for each in splits if each is not best] + self._splits(sides)
        return root

    def _splits(self, leaves: Sequence[tuple[_Node, NDArray[np.int64]]]) -> list["_Split"]:
        """The best split of each leaf that gains by one."""
        found = (self._split(leaf, rows) for leaf, rows in leaves)
        return [each for each in found if each is not None]

    def _split(self, leaf: _Node, rows: NDArray[np.int64]) -> "_Split | None":
        """The question that saves most in place of a leaf; None if none saves anything."""
        if len(rows) < 2 * SMALLEST_LEAF:
            return None
        sums, targets = self._targets.sums[rows], self._targets
        total = sums.sum(0)
        now = float(targets.cost(total))
        if now <= self._nothing:
            return None
        below = np.stack([self._below(rows, column) for column in sums.T], -1)
        count = self._below(rows, np.ones(len(rows)))
        is_possible = self._is_edge & (count >= SMALLEST_LEAF)
        is_possible &= count <= len(rows) - SMALLEST_LEAF
        costs = targets.cost(below) + targets.cost(total - below)
        saved = np.where(is_possible, now - costs, -np.inf)
        feature, edge = divmod(int(saved.argmax()), self._n_bins)
        if saved[feature, edge] <= self._nothing:
            return None
        at = below[feature, edge]
        sides = _Leaf(targets.best(total - at)), _Leaf(targets.best(at))
        return _Split(float(saved[feature, edge]), _Question(feature, edge, *sides), leaf, rows)


class _Split(NamedTuple):
    """A question that may take the place of a leaf."""

    saved: float
    question: _Question
    leaf: _Node
    rows: NDArray[np.int64]


def _edges(values: NDArray, feature: int, trees: Sequence[CrispTree]) -> NDArray[np.float64]:
    """Thresholds for a feature: between values that were met, and those of the trees."""
    met = np.unique(values)
    at = np.unique(np.linspace(0, len(values) - 1, BINS + 2)[1:-1].astype(int))
    below = np.unique(np.searchsorted(met, np.sort(values)[at]))
    below = below[below < len(met) - 1]
    middle = (met[below].astype(np.float64) + met[below + 1]) / 2
    between = np.maximum(rounded_down(middle), met[below])
    asked = [tree.threshold[tree.feature == feature] for tree in trees]
    return np.unique(np.concatenate([between.astype(np.float64), *asked]))


def _with(node: _Node, old: _Node, new: _Node) -> _Node:
    """The tree with `new` in the place of its node `old`."""
    if node is old:
        return new
    if isinstance(node, _Leaf):
        return node
    if_true, if_false = _with(node.if_true, old, new), _with(node.if_false, old, new)
    if if_true is node.if_true and if_false is node.if_false:
        return node
    return replace(node, if_true=if_true, if_false=if_false)
