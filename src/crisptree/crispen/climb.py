"""Small trees with constant real actions, found by many tries with few episodes each.

Where a handful of numbers decides everything, trees drawn at random are often better than what a
cut leaves of a larger one, and a few changes at once improve them quickly.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crispen.config import EvolveConfig
from crisptree.crispen.prune import rows_by_node
from crisptree.crispen.search import variant
from crisptree.crispen.select import Selection
from crisptree.envs.task import Task

FEWEST_DRAWN = 64
"""If there is time for fewer trees than this, none are drawn."""
DRAWN_ROUNDS = (2, 8, 32, 128)
"""Episodes of the rounds of their race."""
ROUNDS, KEPT = (4, 12), 0.25
"""Episodes of the rounds in which changed trees race, and the share of them that plays on."""
AHEAD = (16, 32, 64)
"""Episodes of the rounds in which the best of them must stay ahead of the tree."""
TOGETHER = 3
"""Most changes of a tree at once."""
REACHES = (0.15, 0.05, 0.015)
"""How far changes go, as a share of the states at a node or of an action's range."""
PATIENCE = 80
"""Generations without a gain after which the search ends."""


def best_drawn(
    tree: CrispTree,
    n_leaves: int,
    states: NDArray,
    task: Task,
    selection: Selection,
    rng: np.random.Generator,
    count: int,
) -> CrispTree | None:
    """The best of at most `count` trees drawn at random; None where there is no time for many."""
    while not selection.affords(4 * count, DRAWN_ROUNDS[0]):
        count //= 2
    if count < FEWEST_DRAWN:
        return None
    labels, states = tree.act(states), tree.columns(states)
    trees = [drawn(states, labels, n_leaves, task, rng) for _ in range(count)]
    return trees[selection.race(trees, DRAWN_ROUNDS, keep=1 / 16)[0]]


def drawn(
    states: NDArray, labels: NDArray, n_leaves: int, task: Task, rng: np.random.Generator
) -> CrispTree:
    """A random tree: each node asks for any feature at the value of some state, and each leaf acts
    as some state that reaches it was labelled."""
    feature, threshold, children = [-1], [0.0], [(-1, -1)]
    rows, leaves = [np.arange(len(states))], [0]
    while len(leaves) < n_leaves:
        node = leaves.pop(int(rng.integers(len(leaves))))
        at = int(rng.integers(states.shape[1]))
        feature[node], threshold[node] = at, float(states[_any(rows[node], states, rng), at])
        children[node] = (len(feature), len(feature) + 1)
        goes_true = states[rows[node], at] > threshold[node]
        for side in (goes_true, ~goes_true):
            leaves.append(len(feature))
            feature.append(-1)
            threshold.append(0.0)
            children.append((-1, -1))
            rows.append(rows[node][side])
    action = np.zeros((len(feature), labels.shape[1]))
    for leaf in leaves:
        action[leaf] = labels[_any(rows[leaf], states, rng)]
    return CrispTree(
        feature=np.array(feature),
        threshold=np.array(threshold),
        if_true=np.array([true for true, _ in children]),
        if_false=np.array([false for _, false in children]),
        action=action,
        **task.signature,
    ).simplify()


def _any(rows: NDArray, states: NDArray, rng: np.random.Generator) -> int:
    """A random one of the rows; of all rows if there are none."""
    return int(rng.choice(rows)) if len(rows) else int(rng.integers(len(states)))


def climb(
    tree: CrispTree,
    settings: EvolveConfig,
    selection: Selection,
    states_met_by: Callable[[CrispTree], NDArray],
    rng: np.random.Generator,
    report: Callable[[int, float], object] = lambda generation, score: None,
    is_late: Callable[[], bool] = lambda: False,
) -> CrispTree:
    """The tree after many generations; each keeps the changes that seem to earn more.

    A gain over few episodes may be luck: the caller compares the outcome with the tree that it
    began with.
    """
    assert settings.generations is not None, "the configuration is resolved before it is run"
    states, idle = None, 0
    for generation in range(1, settings.generations + 1):
        if is_late() or idle == PATIENCE:
            break
        states = tree.columns(states_met_by(tree)) if states is None else states
        changed = [_changed(tree, states, rng) for _ in range(2 * settings.population)]
        best = changed[selection.race(changed, ROUNDS, KEPT)[0]]
        is_better, score = selection.beats(best, tree, AHEAD)
        report(generation, score)
        idle += 1
        if is_better:
            tree, states, idle = best.simplify(), None, 0
    return tree


def _changed(tree: CrispTree, states: NDArray, rng: np.random.Generator) -> CrispTree:
    """The tree with one to `TOGETHER` changes, small and large."""
    for _ in range(int(rng.integers(1, TOGETHER + 1))):
        met = dict(rows_by_node(tree, states))
        tree = variant(tree, states, met, float(rng.choice(REACHES)), rng)
    return tree
