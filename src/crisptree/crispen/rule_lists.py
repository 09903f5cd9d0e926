"""Rule lists learned from labelled states by covering: one comparison a rule, the purest first."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.derived import terms_of, with_columns
from crisptree.crispen.agreement import disagreement, ranges
from crisptree.envs.task import Task

BINS = 256
SMALLEST_RULE = 10
PRICES = (3.0, 6.0, 12.0, 25.0)
"""What a wrongly covered state costs, in rightly covered ones. Each price gives a list."""
GROUPS = 12
"""Kinds that real actions are told apart in, while rules are chosen."""


class Rule(NamedTuple):
    feature: int
    threshold: np.float32
    """The rule asks x > threshold, or x ≤ threshold."""
    asks_at_most: bool
    action: NDArray | np.integer


def fit_list(
    states: NDArray,
    actions: NDArray,
    weights: NDArray | None,
    n_leaves: int,
    task: Task,
    seed: int,
) -> CrispTree:
    """A list of at most `n_leaves - 1` rules "if x_j > t (or x_j ≤ t) then a", by covering.

    Rule after rule, the half-space is cut off that covers most states of one action at the least
    price; what remains at the end has its commonest action. `weights` are not used.
    """
    if task.actions.kind != "box":
        actions = np.asarray(actions, np.int64)
    states = with_columns(states, terms_of(task.features))
    edges = _edges(states)
    binned = np.stack(
        [np.searchsorted(edges[j], states[:, j], side="left") for j in range(states.shape[1])], 1
    )
    labels = _labels(actions, task, seed)
    lists = [_cover(binned, labels, actions, edges, n_leaves - 1, task, p) for p in PRICES]
    wrong = [disagreement(task.actions, each.act(states), actions).mean() for each in lists]
    return lists[int(np.argmin(wrong))]


def _labels(actions: NDArray, task: Task, seed: int) -> NDArray[np.int64]:
    """A small whole number for each row's action; real actions that are alike share one."""
    if task.actions.kind != "box":
        return np.unique(actions, axis=0, return_inverse=True)[1].reshape(-1)
    from sklearn.cluster import KMeans

    scaled = actions / ranges(task.actions)
    n_groups = min(GROUPS, len(np.unique(scaled, axis=0)))
    settings: dict[str, Any] = {"n_init": 1, "random_state": seed % 2**31}
    return KMeans(n_groups, **settings).fit_predict(scaled).astype(np.int64)


def _edges(states: NDArray) -> list[NDArray]:
    """Thresholds to try for each feature, between quantiles: edge[b-1] < x ≤ edge[b]."""
    quantiles = np.quantile(states, np.linspace(0, 1, BINS), axis=0)
    every = []
    for column in quantiles.T:
        distinct = np.unique(column)
        every.append(((distinct[1:] + distinct[:-1]) / 2).astype(np.float32))
    return every


def _cover(
    binned: NDArray,
    labels: NDArray[np.int64],
    actions: NDArray,
    edges: list[NDArray],
    n_rules: int,
    task: Task,
    price: float,
) -> CrispTree:
    n_labels = int(labels.max()) + 1
    counts = _counts(binned, labels, n_labels)
    left, rules = np.arange(len(labels)), []
    while len(rules) < n_rules and len(np.unique(labels[left])) > 1:
        best = _best_rule(counts, edges, price)
        if best is None:
            break
        feature, edge, asks_at_most, label = best
        covered = (binned[left, feature] <= edge) == asks_at_most
        gone = left[covered]
        action = _typical(actions[gone], labels[gone] == label, task)
        rules.append(Rule(feature, edges[feature][edge], asks_at_most, action))
        # What is covered is taken out of the counts: no state is counted anew for every rule.
        counts = counts - _counts(binned[gone], labels[gone], n_labels)
        left = left[~covered]
    rest = left if len(left) else np.arange(len(labels))
    commonest = labels[rest] == np.bincount(labels[rest]).argmax()
    return as_list(rules, _typical(actions[rest], commonest, task), task).simplify()


def _typical(actions: NDArray, chosen: NDArray[np.bool_], task: Task) -> NDArray | np.integer:
    """The action that the chosen rows share; for real actions the mean of all rows."""
    if task.actions.kind == "box":
        return actions.mean(axis=0)
    return actions[chosen][0]


def as_list(rules: list[Rule], otherwise: NDArray | np.integer, task: Task) -> CrispTree:
    """The tree in which each rule has its leaf, and the next rule, beside it."""
    n = len(rules)
    following = np.array([*range(1, n), 2 * n], np.int64) if n else np.zeros(0, np.int64)
    own = np.arange(n, 2 * n)
    at_most = np.array([rule.asks_at_most for rule in rules], bool)
    none = np.full(n + 1, -1)
    values = np.stack([np.asarray(rule.action) for rule in rules] + [np.asarray(otherwise)])
    nothing = np.zeros_like(values[:n]) if task.actions.kind == "box" else -np.ones_like(values[:n])
    return CrispTree(
        feature=np.concatenate([[rule.feature for rule in rules], none]).astype(np.int64),
        threshold=np.concatenate([[rule.threshold for rule in rules], np.zeros(n + 1)]).astype(
            np.float64
        ),
        if_true=np.concatenate([np.where(at_most, following, own), none]).astype(np.int64),
        if_false=np.concatenate([np.where(at_most, own, following), none]).astype(np.int64),
        action=np.concatenate([nothing, values]),
        **task.signature,
    )


def _counts(binned: NDArray, labels: NDArray[np.int64], n_labels: int) -> NDArray:
    """States by feature, bin and label."""
    shape = (BINS, n_labels)
    return np.stack(
        [
            np.bincount(column * n_labels + labels, minlength=BINS * n_labels).reshape(shape)
            for column in binned.T
        ]
    )


def _best_rule(
    counts: NDArray, edges: list[NDArray], price: float
) -> tuple[int, int, bool, int] | None:
    """(feature, edge, covers what is below it, label) of the best half-space, if any pays."""
    below = counts.cumsum(1)[:, :-1]
    total = counts[0].sum(0)
    sides = np.stack([below, total - below], 1)
    size, right = sides.sum(-1), sides.max(-1)
    is_edge = np.arange(BINS - 1) < np.array([[[len(edge)]] for edge in edges])
    fits = is_edge & (size >= SMALLEST_RULE) & (size < total.sum())
    worth = np.where(fits, right - price * (size - right), -np.inf)
    feature, side, at = map(int, np.unravel_index(worth.argmax(), worth.shape))
    if worth[feature, side, at] > 0:
        return feature, at, side == 0, int(sides[feature, side, at].argmax())
    return _best_rule(counts, edges, price / 2) if price > 0.5 else None
