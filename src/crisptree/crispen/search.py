"""Local search on the crisp tree itself: small changes raced on return.

Gradients end where the tree is crisp: a soft tree that earns as much as can be earned may still
be read off with a threshold a little to one side. Here a threshold moves, a question or an action
is exchanged, and what earns more on fresh selection episodes stays.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.crispen.prune import rows_by_node
from crisptree.crispen.select import Selection

KINDS = ("threshold", "question", "action")
ODDS = (0.7, 0.15, 0.15)
COLUMNS = ("feature", "threshold", "if_true", "if_false", "action")
MOST_TOGETHER = 3
FEWEST = 20
"""States that must have met a node for its neighbourhood to be told from them."""


@dataclass(frozen=True)
class Search:
    """How long and how hard to look."""

    sweeps: int
    rounds: Sequence[int]
    """Episodes of the race among the variants of a sweep."""
    confirm: int
    """Fresh episodes on which the changes must beat the tree they were made to."""
    width: int = 24
    patience: int = 4
    """Sweeps in a row without a gain after which the search ends."""
    reach: tuple[float, float] = (0.15, 0.015)
    """How far a threshold moves, as a share of the states at its node: first and last sweep."""


def search(
    tree: CrispTree,
    settings: Search,
    selection: Selection,
    states_met_by: Callable[[CrispTree], np.ndarray],
    dice: np.random.Generator,
    report: Callable[[int, CrispTree], None] = lambda sweep, tree: None,
) -> CrispTree:
    """The tree after at most `settings.sweeps` sweeps; each keeps a few changes or none. A
    flawless tree is left as it is."""
    tree = tree.simplify()
    if tree.n_leaves == 1:
        return tree
    states, idle = states_met_by(tree), 0
    certain = (settings.rounds[0], settings.confirm)
    for sweep in range(settings.sweeps):
        if idle == 0 and selection.flawless([tree], sweep, certain) is not None:
            break
        first, last = settings.reach
        reach = first * (last / first) ** (sweep / settings.sweeps)
        variants = [variant(tree, states, reach, dice) for _ in range(settings.width)]
        # The tree itself stands first, so that it wins where nothing earns more.
        ranked = [index for index, _ in selection.finalists([tree, *variants], settings.rounds)]
        ahead = ranked[: ranked.index(0)] if 0 in ranked else ranked
        idle += 1
        if ahead:
            changed = together(tree, [variants[index - 1] for index in ahead[:MOST_TOGETHER]])
            before, *after = (
                r.mean() for r in selection.returns([tree, *changed], settings.confirm)
            )
            if max(after, default=before) > before:
                tree, idle = changed[int(np.argmax(after))], 0
                states = states_met_by(tree)
        report(sweep + 1, tree)
        if idle == settings.patience:
            break
    return tree.simplify()


def variant(
    tree: CrispTree, states: np.ndarray, reach: float, dice: np.random.Generator
) -> CrispTree:
    """The tree with one change; its shape stays."""
    kind = dice.choice(KINDS, p=ODDS)
    if kind == "action":
        return _with_another_action(tree, dice)
    rows = dict(rows_by_node(tree, states))
    node = int(dice.choice(np.flatnonzero(tree.feature >= 0)))
    met = states[rows[node]] if len(rows[node]) >= FEWEST else states
    if kind == "question":
        return _with_another_question(tree, node, met, dice)
    values = np.sort(met[:, tree.feature[node]])
    rank = np.searchsorted(values, tree.threshold[node]) / len(values)
    moved = np.clip(rank + reach * dice.normal(), 0.0, 1.0)
    threshold = tree.threshold.copy()
    threshold[node] = np.quantile(values, moved)
    return replace(tree, threshold=threshold)


def together(tree: CrispTree, variants: Sequence[CrispTree]) -> list[CrispTree]:
    """The first change, the first two, the first three, …; one change a node."""
    taken = np.zeros(tree.n_nodes, bool)
    steps, merged = [], tree
    for each in variants:
        differs = np.any([getattr(each, name) != getattr(tree, name) for name in COLUMNS], axis=0)
        if (differs & taken).any() or not differs.any():
            continue
        taken |= differs
        merged = replace(
            merged,
            **{
                name: np.where(differs, getattr(each, name), getattr(merged, name))
                for name in COLUMNS
            },
        )
        steps.append(merged)
    return steps


def _with_another_action(tree: CrispTree, dice: np.random.Generator) -> CrispTree:
    action = tree.action.copy()
    leaf = dice.choice(np.flatnonzero(tree.feature < 0))
    action[leaf] = (action[leaf] + dice.integers(1, tree.n_actions)) % tree.n_actions
    return replace(tree, action=action)


def _with_another_question(
    tree: CrispTree, node: int, met: np.ndarray, dice: np.random.Generator
) -> CrispTree:
    """Any feature, at a value that was met, either way round."""
    feature, threshold = tree.feature.copy(), tree.threshold.copy()
    feature[node] = dice.integers(tree.n_features)
    threshold[node] = dice.choice(met[:, feature[node]])
    if dice.random() < 0.5:
        return replace(tree, feature=feature, threshold=threshold)
    if_true, if_false = tree.if_true.copy(), tree.if_false.copy()
    if_true[node], if_false[node] = if_false[node], if_true[node]
    return replace(tree, feature=feature, threshold=threshold, if_true=if_true, if_false=if_false)
