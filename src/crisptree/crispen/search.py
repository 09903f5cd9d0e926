"""Local search on the crisp tree itself: small changes raced on return.

Gradients end where the tree is crisp: a soft tree that earns as much as can be earned may still
be read off with a threshold a little to one side. Here a threshold moves, a question or an action
is exchanged, and what earns more on fresh selection episodes stays.

A tree that loses one episode in a thousand earns no less than others in a race. It is put right by
what it lost: changes are tried on those episodes first, those that endure them are counted on
thousands of others, and where they fail the next ones are tried too (counterexamples guide it).
"""

from collections import deque
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
MOST_EXAMPLES, OF_A_TREE = 32, 8
"""Lost episodes that are remembered, and how many of them a tree."""
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

    @property
    def certain(self) -> tuple[int, int]:
        """Episodes, round by round, after which a tree that never lost any is flawless."""
        return self.rounds[0], self.confirm


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
    states, idle, moment, lost = None, 0, 0, None
    hard: deque[int] = deque(maxlen=MOST_EXAMPLES)
    for sweep in range(settings.sweeps):
        if idle == 0:
            moment, lost = sweep, _rarely_lost(tree, settings, selection, sweep)
            hard.extend((lost or [])[:OF_A_TREE])
        if lost == []:
            break
        states = states_met_by(tree) if states is None else states
        first, last = settings.reach
        reach = first * (last / first) ** (sweep / settings.sweeps)
        variants = [variant(tree, states, reach, dice) for _ in range(settings.width)]
        if lost is None:
            better = _raced(tree, variants, settings, selection)
        else:
            better, lost = _losing_less(variants, lost, hard, settings, selection, moment)
        idle += 1
        if better is not None:
            tree, idle, states = better, 0, None
        report(sweep + 1, tree)
        if idle == settings.patience:
            break
    return tree.simplify()


def _raced(
    tree: CrispTree, variants: list[CrispTree], settings: Search, selection: Selection
) -> CrispTree | None:
    """The few best changes of a race, if they earn more on fresh episodes too."""
    # The tree itself stands first, so that it wins where nothing earns more.
    ranked = [index for index, _ in selection.finalists([tree, *variants], settings.rounds)]
    ahead = ranked[: ranked.index(0)] if 0 in ranked else ranked
    if not ahead:
        return None
    changed = together(tree, [variants[index - 1] for index in ahead[:MOST_TOGETHER]])
    before, *after = (r.mean() for r in selection.returns([tree, *changed], settings.confirm))
    return changed[int(np.argmax(after))] if max(after, default=before) > before else None


def _rarely_lost(
    tree: CrispTree, settings: Search, selection: Selection, moment: int
) -> list[int] | None:
    """The episodes of that moment that are lost by a tree which hardly ever loses any; none, where
    it is flawless."""
    few, many = settings.certain
    if selection.flawless([tree], moment, [few]) is None:
        return None
    return _lost(tree, selection, selection.at(moment, many))


def _losing_less(
    variants: list[CrispTree],
    lost: list[int],
    hard: deque[int],
    settings: Search,
    selection: Selection,
    moment: int,
) -> tuple[CrispTree | None, list[int]]:
    """Of the variants that endure most of the `hard` episodes, the one that loses fewest of the
    moment's, if those are fewer than `lost`; and those. Where they fail is hard from then on."""
    few, many = settings.certain
    falls, n_hard = selection.short(variants, list(hard)).sum(1), len(hard)
    best = None
    for index in np.argsort(falls, kind="stable")[:MOST_TOGETHER].tolist():
        each = variants[index]
        if 2 * falls[index] > n_hard or selection.flawless([each], moment, [few]) is None:
            continue
        left = _lost(each, selection, selection.at(moment, many))
        hard.extend(left[:OF_A_TREE])
        if len(left) < len(lost):
            best, lost = each, left
        if not left:
            break
    return best, lost


def _lost(tree: CrispTree, selection: Selection, seeds: Sequence[int]) -> list[int]:
    short = selection.short([tree], seeds)[0]
    return [seed for seed, falls in zip(seeds, short, strict=True) if falls]


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
