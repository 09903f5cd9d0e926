"""The worst starts: small changes to a crisp tree, kept if they help the starts with the lowest
scores.

A mean hides that one start in a thousand fails. Here a tree is judged by its lowest share of
starts, and by the mean only to break ties. Changes are tried on the worst starts first, and then on
all. From time to time an adversary looks for worse starts around the worst; those are added and
stay.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crispen.config import WorstCaseConfig
from crisptree.crispen.prune import rows_by_node
from crisptree.crispen.search import variant

REACHES = (0.003, 0.01, 0.03, 0.1, 0.3)
"""How far a threshold moves, as a share of the states at its node; each change draws one."""
MOST_CHANGES = 3
GROWS = 0.3
"""Chance that a change turns a leaf into a question, if there is room."""
ADVERSARY_EVERY = 8
"""Rounds between two searches for worse starts."""

Starts = NDArray[Any]
"""Rows that episodes begin with: states, or seeds."""


@runtime_checkable
class Trial(Protocol):
    """Plays trees from starts that can be chosen."""

    def starts(self, n: int) -> Starts:
        """Starts of all kinds: the extremes and the inside."""
        ...

    def near(self, worst: Starts, n: int) -> Starts:
        """Other starts, if possible such as are likely to be as bad as these."""
        ...

    def scores(self, trees: Sequence[CrispTree], starts: Starts) -> NDArray[np.float64]:
        """How well each tree does from each start, `(trees, starts)`."""
        ...

    def harder(self) -> bool:
        """Make the trial harder; return whether that was possible."""
        ...

    def states(self, tree: CrispTree) -> NDArray:
        """The states that the tree visits, `(N, features)`."""
        ...


def tail(scores: NDArray[np.float64], share: float) -> tuple[float, float]:
    """The score of a tree: the mean of its lowest scores (at least one), then of all."""
    count = max(1, int(share * len(scores)))
    return float(np.partition(scores, count - 1)[:count].mean()), float(scores.mean())


def improved(
    tree: CrispTree,
    trial: Trial,
    settings: WorstCaseConfig,
    most_leaves: int,
    rng: np.random.Generator,
    report: Callable[[int, CrispTree, tuple[float, float]], object] = lambda *_: None,
    is_late: Callable[[], bool] = lambda: False,
) -> tuple[CrispTree, Starts]:
    """The tree after at most `settings.rounds` rounds of changes, and the starts it was judged by.

    It ends early after `settings.patience` rounds without a gain, or if `is_late`.
    """
    tree = tree.simplify()
    starts = trial.starts(settings.starts)
    scores = trial.scores([tree], starts)[0]
    states, idle = trial.states(tree), 0
    for number in range(settings.rounds):
        if is_late() or idle == settings.patience:
            break
        while tail(scores, settings.share)[0] > 0 and trial.harder():
            scores, idle = trial.scores([tree], starts)[0], 0
        if number % ADVERSARY_EVERY == 0:
            starts, scores = _with_worse(tree, trial, settings, starts, scores)
        hard = starts[np.argsort(scores, kind="stable")[: settings.hard]]
        rows = dict(rows_by_node(tree, states))
        tried = [changed(tree, states, rows, most_leaves, rng) for _ in range(settings.width)]
        now, *then = (tail(each, settings.share) for each in trial.scores([tree, *tried], hard))
        ahead = sorted((i for i, each in enumerate(then) if each > now), key=lambda i: then[i])
        idle += 1
        for index in ahead[: -1 - settings.confirmed : -1]:
            found = trial.scores([tried[index]], starts)[0]
            if tail(found, settings.share) > tail(scores, settings.share):
                tree, scores, idle = tried[index].simplify(), found, 0
                states = trial.states(tree)
                break
        report(number + 1, tree, tail(scores, settings.share))
    return tree, starts


def _with_worse(
    tree: CrispTree,
    trial: Trial,
    settings: WorstCaseConfig,
    starts: Starts,
    scores: NDArray[np.float64],
) -> tuple[Starts, NDArray[np.float64]]:
    """The starts, with worse ones in the place of the best, which tell least."""
    worst = starts[np.argsort(scores, kind="stable")[: settings.hard]]
    others = trial.near(worst, settings.hard)
    found = trial.scores([tree], others)[0]
    bad = np.argsort(found, kind="stable")[: settings.hard // 2]
    keep = np.argsort(scores, kind="stable")[: settings.starts - len(bad)]
    keep.sort()
    return np.concatenate([starts[keep], others[bad]]), np.concatenate([scores[keep], found[bad]])


def changed(
    tree: CrispTree,
    states: NDArray,
    rows: dict[int, NDArray],
    most_leaves: int,
    rng: np.random.Generator,
) -> CrispTree:
    """The tree with up to three changes, or with one more leaf."""
    if tree.n_leaves < most_leaves and rng.random() < GROWS:
        return grown(tree, states, rng)
    found = tree
    for _ in range(int(rng.integers(1, MOST_CHANGES + 1))):
        found = variant(found, states, rows, float(rng.choice(REACHES)), rng)
    return found


def grown(tree: CrispTree, states: NDArray, rng: np.random.Generator) -> CrispTree:
    """The tree with a question in the place of a leaf; one answer leads to what the leaf did, the
    other to what some other leaf does, or to any choice."""
    leaves = np.flatnonzero(tree.feature < 0)
    leaf, other = (int(each) for each in rng.choice(leaves, 2, replace=len(leaves) < 2))
    n, feature = tree.n_nodes, int(rng.integers(tree.n_features))
    as_before, as_other = (n, n + 1) if rng.random() < 0.5 else (n + 1, n)

    def longer(column: NDArray, at_leaf: Any, ends: Any) -> NDArray:
        found = np.concatenate(
            [column, np.asarray(ends, column.dtype).reshape(2, *column.shape[1:])]
        )
        found[leaf] = at_leaf
        return found

    at_question = 0.0 if tree.actions.kind == "box" else -1
    instead = tree.action[other]
    if tree.actions.kind == "discrete" and (len(leaves) < 2 or rng.random() < 0.5):
        instead = rng.integers(tree.n_actions)
    actions = {as_before: tree.action[leaf], as_other: instead}
    gains = list(tree.gains)
    if gains:
        more = {as_before: gains[leaf], as_other: gains[other]}
        gains += [more[n], more[n + 1]]
        gains[leaf] = ()
    return replace(
        tree,
        feature=longer(tree.feature, feature, [-1, -1]),
        threshold=longer(tree.threshold, float(rng.choice(states[:, feature])), [0.0, 0.0]),
        if_true=longer(tree.if_true, n, [-1, -1]),
        if_false=longer(tree.if_false, n + 1, [-1, -1]),
        action=longer(tree.action, at_question, [actions[n], actions[n + 1]]),
        gains=tuple(gains),
    )
