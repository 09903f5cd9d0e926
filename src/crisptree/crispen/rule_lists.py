"""Rule lists learned from labelled states: one comparison per rule."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.derived import terms_of, with_columns
from crisptree.crispen.agreement import disagreement, ranges
from crisptree.crispen.alternate import BinnedList, BinnedRule, ListFit
from crisptree.envs.task import Task

BINS = 256
SMALLEST_RULE = 10
PRICES = (3.0, 12.0)
"""The cost of a wrongly covered state in rightly covered ones; each price gives a list."""
MOST_ROWS = 10_000
"""Most states a list is fitted to; more only take more time."""
GROUPS = 12
"""Number of labels that real actions are grouped into while rules are chosen."""


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
    """A list of at most `n_leaves - 1` rules "if x_j > t (or x_j ≤ t) then a".

    Lists begin by covering (at different prices) or by insertion; then every rule is refitted while
    the others stay, and the list with the fewest errors is taken.
    """
    if task.actions.kind != "box":
        actions = np.asarray(actions, np.int64)
    if len(states) > MOST_ROWS:
        rows = np.random.default_rng(seed % 2**32).permutation(len(states))[:MOST_ROWS]
        states, actions = states[rows], actions[rows]
        weights = None if weights is None else weights[rows]
    states = with_columns(states, terms_of(task.features))
    edges = _edges(states)
    binned = np.stack(
        [np.searchsorted(edges[j], states[:, j], side="left") for j in range(states.shape[1])], 1
    )
    labels = _labels(actions, task, seed)
    fit = ListFit(binned, labels, weights, BINS, SMALLEST_RULE)
    covered = [_cover(binned, labels, edges, n_leaves - 1, price) for price in PRICES]
    lists = [*map(fit.alternated, covered), fit.grown(n_leaves - 1)]
    trees = [_as_tree(each, fit, edges, actions, task) for each in lists]
    wrong = [
        np.average(disagreement(task.actions, each.act(states), actions), weights=weights)
        for each in trees
    ]
    return trees[int(np.argmin(wrong))]


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
    binned: NDArray, labels: NDArray[np.int64], edges: list[NDArray], n_rules: int, price: float
) -> BinnedList:
    """A list by covering: each rule is the half-space that covers most states of one label at the
    least price."""
    n_labels = int(labels.max()) + 1
    counts = _counts(binned, labels, n_labels)
    left, rules = np.arange(len(labels)), []
    while len(rules) < n_rules and len(np.unique(labels[left])) > 1:
        best = _best_rule(counts, edges, price)
        if best is None:
            break
        covered = (binned[left, best.feature] <= best.edge) == best.asks_at_most
        gone = left[covered]
        rules.append(best)
        # Covered states are subtracted from the counts, so no state is counted again for every
        # rule.
        counts = counts - _counts(binned[gone], labels[gone], n_labels)
        left = left[~covered]
    rest = left if len(left) else np.arange(len(labels))
    return BinnedList(tuple(rules), int(np.bincount(labels[rest]).argmax()))


def _as_tree(
    found: BinnedList, fit: ListFit, edges: list[NDArray], actions: NDArray, task: Task
) -> CrispTree:
    """The list with the actions of the states that its rules take; rules without states are
    dropped."""
    first = fit.reached(found)
    rules = []
    for at, rule in enumerate(found.rules):
        taken = first == at
        action = _typical(actions[taken], fit.labels[taken] == rule.label, task)
        if action is not None:
            threshold = edges[rule.feature][rule.edge]
            rules.append(Rule(rule.feature, threshold, rule.asks_at_most, action))
    rest = first == len(found.rules)
    if not (fit.labels[rest] == found.otherwise).any():
        rest = fit.labels == found.otherwise
    otherwise = _typical(actions[rest], fit.labels[rest] == found.otherwise, task)
    assert otherwise is not None
    return as_list(rules, otherwise, task).simplify()


def _typical(
    actions: NDArray, chosen: NDArray[np.bool_], task: Task
) -> NDArray | np.integer | None:
    """The action that the chosen rows share, for real actions the mean of all; None if none is
    chosen."""
    if not chosen.any():
        return None
    return actions.mean(axis=0) if task.actions.kind == "box" else actions[chosen][0]


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


def _best_rule(counts: NDArray, edges: list[NDArray], price: float) -> BinnedRule | None:
    """The best half-space with its label, if any pays."""
    below = counts.cumsum(1)[:, :-1]
    total = counts[0].sum(0)
    sides = np.stack([below, total - below], 1)
    size, right = sides.sum(-1), sides.max(-1)
    is_edge = np.arange(BINS - 1) < np.array([[[len(edge)]] for edge in edges])
    fits = is_edge & (size >= SMALLEST_RULE) & (size < total.sum())
    worth = np.where(fits, right - price * (size - right), -np.inf)
    feature, side, at = map(int, np.unravel_index(worth.argmax(), worth.shape))
    if worth[feature, side, at] > 0:
        return BinnedRule(feature, at, side == 0, int(sides[feature, side, at].argmax()))
    return _best_rule(counts, edges, price / 2) if price > 0.5 else None
