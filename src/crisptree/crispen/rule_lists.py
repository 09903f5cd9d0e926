"""Rule lists learned from labelled states by covering: one comparison a rule, the purest first."""

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.crispen.harden import assemble
from crisptree.envs.spaces import Task
from crisptree.soft import rule_list

BINS = 256
SMALLEST_RULE = 10
PRICES = (3.0, 6.0, 12.0, 25.0)
"""What a wrongly covered state costs, in rightly covered ones. Each price gives a list."""


def fit_list(
    states: np.ndarray, actions: np.ndarray, n_leaves: int, task: Task, seed: int
) -> CrispTree:
    """A list of at most `n_leaves - 1` rules "if x_j > t (or x_j < t) then a", by covering.

    Rule after rule, the half-space is cut off that covers most states of one action at the least
    price; what remains at the end has its commonest action. `seed` is not needed: ties are broken
    by order.
    """
    del seed
    edges = _edges(states)
    binned = np.stack(
        [np.searchsorted(edges[j], states[:, j], side="left") for j in range(states.shape[1])], 1
    )
    lists = [_cover(binned, actions, edges, n_leaves - 1, task, price) for price in PRICES]
    right = [float((each.predict(states)[0] == actions).mean()) for each in lists]
    return lists[int(np.argmax(right))]


def _edges(states: np.ndarray) -> list[np.ndarray]:
    """Thresholds to try, a feature, between neighbouring quantiles: edge[b-1] < x ≤ edge[b]."""
    quantiles = np.quantile(states, np.linspace(0, 1, BINS), axis=0)
    every = []
    for column in quantiles.T:
        distinct = np.unique(column)
        every.append(((distinct[1:] + distinct[:-1]) / 2).astype(np.float32))
    return every


def _cover(
    binned: np.ndarray,
    actions: np.ndarray,
    edges: list[np.ndarray],
    n_rules: int,
    task: Task,
    price: float,
) -> CrispTree:
    features, thresholds, turned, leaves = [], [], [], []
    left = np.arange(len(actions))
    while len(features) < n_rules and len(np.unique(actions[left])) > 1:
        best = _best_rule(binned[left], actions[left], edges, task.n_actions, price)
        if best is None:
            break
        feature, edge, below, action = best
        features.append(feature)
        # Asking x < t' with t' just above the edge is asking x ≤ edge.
        threshold = edges[feature][edge]
        thresholds.append(np.nextafter(threshold, np.float32(np.inf)) if below else threshold)
        turned.append(below)
        leaves.append(action)
        covered = (binned[left, feature] <= edge) == below
        left = left[~covered]
    rest = actions[left] if len(left) else actions
    leaves.append(int(np.bincount(rest).argmax()))
    if not features:
        return CrispTree.leaf(leaves[0], task.feature_names, task.action_names, task.env_id)
    return assemble(
        rule_list(len(features)),
        np.asarray(features),
        np.asarray(thresholds),
        np.asarray(turned),
        np.eye(task.n_actions)[leaves],
        task,
    ).simplify()


def _best_rule(
    binned: np.ndarray, actions: np.ndarray, edges: list[np.ndarray], n_actions: int, price: float
) -> tuple[int, int, bool, int] | None:
    """(feature, edge, covers what is below it, action) of the best half-space, if any pays."""
    best, found = 0.0, None
    for feature, edge in enumerate(edges):
        if len(edge) == 0:
            continue
        cells = binned[:, feature] * n_actions + actions
        counts = np.bincount(cells, minlength=(len(edge) + 1) * n_actions)
        below = counts.reshape(-1, n_actions).cumsum(0)[:-1]
        for is_below, side in (
            (True, below),
            (False, counts.reshape(-1, n_actions).sum(0) - below),
        ):
            size, right = side.sum(1), side.max(1)
            fits = (size >= SMALLEST_RULE) & (size < len(actions))
            worth = np.where(fits, right - price * (size - right), -np.inf)
            at = int(worth.argmax())
            if worth[at] > best:
                best, found = worth[at], (feature, at, is_below, int(side[at].argmax()))
    if found is None and price > 0.5:
        return _best_rule(binned, actions, edges, n_actions, price / 2)
    return found
