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
    counts = _counts(binned, actions, task.n_actions)
    lists = [_cover(binned, actions, counts, edges, n_leaves - 1, task, price) for price in PRICES]
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
    counts: np.ndarray,
    edges: list[np.ndarray],
    n_rules: int,
    task: Task,
    price: float,
) -> CrispTree:
    features, thresholds, turned, leaves = [], [], [], []
    left = np.arange(len(actions))
    while len(features) < n_rules and len(np.unique(actions[left])) > 1:
        best = _best_rule(counts, edges, price)
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
        # What is covered is taken out of the counts: no state is counted anew for every rule.
        gone = left[covered]
        counts = counts - _counts(binned[gone], actions[gone], task.n_actions)
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


def _counts(binned: np.ndarray, actions: np.ndarray, n_actions: int) -> np.ndarray:
    """States by feature, bin and action."""
    shape = (BINS, n_actions)
    return np.stack(
        [
            np.bincount(column * n_actions + actions, minlength=BINS * n_actions).reshape(shape)
            for column in binned.T
        ]
    )


def _best_rule(
    counts: np.ndarray, edges: list[np.ndarray], price: float
) -> tuple[int, int, bool, int] | None:
    """(feature, edge, covers what is below it, action) of the best half-space, if any pays."""
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
