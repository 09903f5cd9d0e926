"""Trees with sparse linear leaves, fitted to labelled states: splits are chosen for the lines that
the two sides then have, not for constants."""

import heapq
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.linear import Gain
from crisptree.crisp.rounding import rounded_down
from crisptree.crispen.agreement import ranges
from crisptree.envs.task import Task

RIDGE = 1e-6
"""Ridge penalty of gains, in units of the features' variances."""
MOST_ROWS = 20_000
"""Most states that splits are chosen on."""
THRESHOLDS = 31
"""Thresholds that are tried for each feature."""
CLIPPED_FITS = 8
"""How often a leaf's line is refitted, each time without labels at a bound that the line
reaches."""


class Line(NamedTuple):
    """`offset + Σ slopes · x[features]`."""

    offset: float
    features: tuple[int, ...]
    slopes: tuple[float, ...]

    def __call__(self, states: NDArray) -> NDArray:
        return self.offset + states[:, list(self.features)] @ np.array(self.slopes)


class _Sums(NamedTuple):
    """Σ of products over rows, with a column of ones first; a leading axis is several sets."""

    xx: NDArray
    xy: NDArray
    yy: NDArray

    @staticmethod
    def of(x: NDArray, y: NDArray) -> "_Sums":
        return _Sums(x.T @ x, x.T @ y, (y * y).sum(0))

    @property
    def rows(self) -> Any:
        return self.xx[..., 0, 0]


class _Split(NamedTuple):
    gain: float
    feature: int
    threshold: float


def fit_linear(
    states: NDArray,
    actions: NDArray,
    weights: NDArray | None,
    n_leaves: int,
    task: Task,
    seed: int,
    *,
    gains: int,
) -> CrispTree:
    """A tree of at most `n_leaves` leaves, each a line of at most `gains` features for each
    dimension of the action.

    The leaf is split next whose split takes away most of the squared error.
    """
    del weights  # teachers of real actions do not know what a wrong one costs
    rows = np.random.default_rng(seed).permutation(len(states))[:MOST_ROWS]
    few = states[rows].astype(np.float64)
    mean, deviation = few.mean(0), few.std(0) + 1e-9
    x = np.concatenate([np.ones((len(few), 1)), (few - mean) / deviation], 1)
    y = actions[rows] / ranges(task.actions)
    feature, threshold = [-1], [0.0]
    children = [(-1, -1)]
    members = [np.arange(len(few))]
    queue: list[tuple[float, int, _Split]] = []

    def consider(node: int) -> None:
        split = _best_split(few[members[node]], x[members[node]], y[members[node]], gains)
        if split is not None:
            heapq.heappush(queue, (-split.gain, node, split))

    consider(0)
    for _ in range(n_leaves - 1):
        if not queue:
            break
        _, node, split = heapq.heappop(queue)
        goes_true = few[members[node], split.feature] > split.threshold
        feature[node], threshold[node] = split.feature, split.threshold
        children[node] = (len(feature), len(feature) + 1)
        for side in (goes_true, ~goes_true):
            feature.append(-1)
            threshold.append(0.0)
            children.append((-1, -1))
            members.append(members[node][side])
            consider(len(feature) - 1)
    middle = 0.5 * np.add(task.actions.low, task.actions.high)
    tree = CrispTree(
        feature=np.array(feature),
        threshold=np.array(threshold),
        if_true=np.array([true for true, _ in children]),
        if_false=np.array([false for _, false in children]),
        action=np.where(np.array(feature)[:, None] < 0, middle, 0.0),
        **task.signature,
    )
    return with_linear_leaves(tree, states, actions, gains).simplify()


def _best_split(states: NDArray, x: NDArray, y: NDArray, gains: int) -> _Split | None:
    """The split after which the lines of both sides leave the least squared error."""
    fewest = 4 * (gains + 2)
    if len(x) < 2 * fewest:
        return None
    whole = _Sums.of(x, y)
    chosen = [_chosen_features(whole, d, gains) for d in range(y.shape[1])]
    before = _error(whole, chosen)
    best = None
    for feature in range(states.shape[1]):
        tried = _thresholds(states[:, feature])
        if not len(tried):
            continue
        side = np.searchsorted(tried, states[:, feature], side="left")  # above so many thresholds
        order = np.argsort(side, kind="stable")
        cuts = np.searchsorted(side[order], np.arange(1, len(tried) + 1))
        parts = [
            _Sums.of(a, b)
            for a, b in zip(np.split(x[order], cuts), np.split(y[order], cuts), strict=True)
        ]
        below = _Sums(*(np.cumsum(np.stack(each[:-1]), 0) for each in zip(*parts, strict=True)))
        above = _Sums(*(a - b for a, b in zip(whole, below, strict=True)))
        gain = before - _error(below, chosen) - _error(above, chosen)
        allowed = (below.rows >= fewest) & (above.rows >= fewest)
        gain = np.where(allowed, gain, -np.inf)
        at = int(gain.argmax())
        if gain[at] > 1e-9 * len(x) and (best is None or gain[at] > best.gain):
            best = _Split(float(gain[at]), feature, float(tried[at]))
    return best


def _thresholds(values: NDArray) -> NDArray[np.float64]:
    """Values at even shares of the rows, as float32 holds them."""
    shares = np.linspace(0, 1, THRESHOLDS + 2)[1:-1]
    tried = np.unique(rounded_down(np.quantile(values, shares)).astype(np.float64))
    return tried[tried < values.max()]


def _chosen_features(sums: _Sums, dimension: int, gains: int) -> list[int]:
    """Columns, the constant first, each of which explains most of what those before it leave."""
    columns = [0]
    variance = np.diag(sums.xx) - sums.xx[0] ** 2 / sums.rows
    usable = variance > 1e-9 * sums.rows
    for _ in range(min(gains, int(usable.sum()))):
        weights = _solved(sums.xx[np.ix_(columns, columns)], sums.xy[columns, dimension])
        left = sums.xy[:, dimension] - sums.xx[:, columns] @ weights
        explains = np.where(usable, left**2 / np.maximum(variance, 1e-12), -1.0)
        explains[columns] = -1.0
        columns.append(int(explains.argmax()))
    return columns


def _solved(xx: NDArray, xy: NDArray) -> NDArray:
    """The weights of least squares, with a small ridge penalty on gains."""
    ridge = RIDGE * np.eye(xx.shape[-1]) * np.maximum(xx[..., :1, :1], 1.0)
    return np.linalg.solve(xx + ridge, xy[..., None])[..., 0]


def _error(sums: _Sums, chosen: list[list[int]]) -> Any:
    """The squared error that is left by lines of the chosen columns, summed over dimensions."""
    total = np.zeros(sums.xx.shape[:-2])
    for dimension, columns in enumerate(chosen):
        xx = sums.xx[..., columns, :][..., columns]
        xy = sums.xy[..., columns, dimension]
        total = total + sums.yy[..., dimension] - (_solved(xx, xy) * xy).sum(-1)
    return total


def with_linear_leaves(
    tree: CrispTree,
    states: NDArray,
    actions: NDArray,
    gains: int,
    wrong: NDArray[np.bool_] | None = None,
) -> CrispTree:
    """The tree with a linear controller in each leaf, fitted to the states that reach it; in those
    leaves only that `wrong` states reach, if it is said which these are.

    Each dimension of the action uses at most `gains` features, taken in one after the other: the
    one that explains most of what is left.
    """
    at, box, action = tree.apply(states), tree.actions, tree.action.copy()
    sparse: list[tuple[Gain, ...]] = [()] * tree.n_nodes if wrong is None else [*tree.gains]
    for leaf in np.unique(at if wrong is None else at[wrong]):
        rows = at == leaf
        terms: list[Gain] = []
        for dimension in range(actions.shape[1]):
            bounds = box.low[dimension], box.high[dimension]
            line = sparse_line(states[rows], actions[rows, dimension], gains, bounds)
            action[leaf, dimension] = line.offset
            pairs = zip(line.features, line.slopes, strict=True)
            terms += [Gain(dimension, each, slope) for each, slope in pairs]
        sparse[leaf] = tuple(terms)
    return replace(tree, action=action, gains=tuple(sparse))


def refitted(smaller: CrispTree, tree: CrispTree, states: NDArray) -> CrispTree:
    """`smaller`, which was cut from `tree`, with new lines in the leaves that took over states in
    which it acts otherwise: fitted to what `tree` does in all states that reach them."""
    columns, wanted = tree.columns(states), tree.act(states)
    dimensions = range(len(tree.actions.low))
    gains = max(sum(g.dimension == d for g in own) for own in tree.gains for d in dimensions)
    wrong = (smaller.act(states) != wanted).any(1)
    return with_linear_leaves(smaller, columns, wanted, gains, wrong).simplify()


def sparse_line(states: NDArray, values: NDArray, most: int, bounds: tuple[float, float]) -> Line:
    """A line of at most `most` features through `values`, clipped to the bounds when used.

    A label at a bound means that bound or anything beyond it: a line beyond is right there.
    """
    mean, deviation = states.mean(0, dtype=np.float64), states.std(0, dtype=np.float64)
    usable = np.flatnonzero(deviation > 1e-6 * (1e-12 + np.abs(mean)))
    if len(values) < 4 * (most + 1) or not len(usable) or values.std() < 1e-9:
        return Line(float(values.mean()), (), ())
    standard = (states[:, usable] - mean[usable]) / deviation[usable]
    x = np.concatenate([np.ones((len(standard), 1)), standard], 1)
    columns, weights = _clipped_fit(x, values.astype(np.float64), most, bounds)
    picked = usable[np.array(columns[1:], int) - 1]
    slopes = weights[1:] / deviation[picked]
    offset = float(weights[0] - slopes @ mean[picked])
    return Line(offset, tuple(picked.tolist()), tuple(slopes.tolist()))


def _clipped_fit(
    x: NDArray, values: NDArray, most: int, bounds: tuple[float, float]
) -> tuple[list[int], NDArray]:
    """Columns and weights whose clipped line is nearest to the values, of a few Gauss-Newton steps:
    rows that are right beyond a bound have no slope and are left out of the next fit."""
    low, high = bounds
    edge = 1e-6 * (high - low)
    at_low, at_high = values <= low + edge, values >= high - edge
    counts, least = np.ones(len(values), bool), np.inf
    best: tuple[list[int], NDArray] = ([0], np.array([values.mean()]))
    for _ in range(CLIPPED_FITS):
        sums = _Sums.of(x[counts], values[counts, None])
        columns = _chosen_features(sums, 0, most)
        weights = _solved(sums.xx[np.ix_(columns, columns)], sums.xy[columns, 0])
        said = x[:, columns] @ weights
        error = float(np.square(np.clip(said, low, high) - values).sum())
        if error < least:
            best, least = (columns, weights), error
        counts = ~((at_high & (said > high)) | (at_low & (said < low)))
        if counts.all() or counts.sum() < 4 * (most + 1):
            break
    return best
