"""Local search on the crisp tree itself: small changes raced on return.

Gradients end where the tree is crisp: a soft tree that earns as much as possible may still be read
off with a threshold a little to one side, and no gradient chooses a question. Here a threshold
moves, a question or a leaf's action is exchanged, or a question is removed and another one added
elsewhere; changes that earn more on fresh selection episodes are kept.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.linear import Gain
from crisptree.crisp.signature import Actions
from crisptree.crispen.agreement import ranges
from crisptree.crispen.config import SearchConfig
from crisptree.crispen.prune import cut_away, cuts, rows_by_node
from crisptree.crispen.select import Selection

CHANGES = ("threshold", "question", "action")
ODDS = (0.7, 0.15, 0.15)
BOX_ODDS = (0.45, 0.15, 0.4)
"""Kinds of change for real actions, which can be moved a little and so are tried more often."""
STRONGER = 0.15
"""Share of changes of real actions that change all leaves by one factor."""
EXCHANGES = 0.3
"""Share of the variants with a new question elsewhere, for which another one is removed."""
FAR = 2.0
"""The removed question is, on average, the one with this many less changing cuts before it."""
ATTEMPTS = 4
"""Places that are tried for each new question: many change nothing, or break a list."""
WIDTH = 24
"""Changed trees in a sweep, unless the settings say otherwise."""
WINDOW = 24
"""Sweeps that must gain something together."""
COLUMNS = ("feature", "threshold", "if_true", "if_false", "action")
MOST_TOGETHER = 3
FEWEST = 20
"""Least states at a node for its changes to be drawn from them; else all states are used."""
SAMPLE = 2_000
"""States on which the cuts that make room are compared."""


def search(
    tree: CrispTree,
    settings: SearchConfig,
    selection: Selection,
    states_met_by: Callable[[CrispTree], NDArray],
    rng: np.random.Generator,
    most_leaves: int | None = None,
    is_list: bool = False,
    report: Callable[[int, CrispTree], object] = lambda sweep, tree: None,
    is_late: Callable[[], bool] = lambda: False,
) -> CrispTree:
    """The tree after at most `settings.sweeps` sweeps; each keeps a few changes or none.

    The search ends early if no change was kept for a while, or if `is_late`. Some changes only seem
    to gain, by luck, so it also ends if `WINDOW` sweeps together gained nothing on fresh episodes.
    The tree has at most `most_leaves` leaves, by default as many as it came with; a list stays a
    list.
    """
    assert settings.sweeps is not None, "the configuration is resolved before it is run"
    tree = tree.simplify()
    most, width = most_leaves or tree.n_leaves, settings.width or WIDTH
    states, idle, before = None, 0, tree
    for sweep in range(settings.sweeps):
        if is_late():
            break
        states = states_met_by(tree) if states is None else states
        moved = _moved(tree, states, round(width * (1 - EXCHANGES)), settings.reach, rng)
        exchanged = _exchanged(tree, states, width - len(moved), most, is_list, rng)
        better = _raced(tree, moved, exchanged, settings, selection)
        idle += 1
        if better is not None:
            tree, idle, states = better.simplify(), 0, None
        report(sweep + 1, tree)
        if idle == settings.patience:
            break
        if (sweep + 1) % WINDOW == 0:
            if not selection.careful().beats(tree, before, (settings.confirm,))[0]:
                return before
            before = tree
    return tree


def _moved(
    tree: CrispTree, states: NDArray, n: int, reach: tuple[float, float], rng: np.random.Generator
) -> list[CrispTree]:
    """Variants of the same shape, with small and large changes."""
    columns, met = tree.columns(states), dict(rows_by_node(tree, states))
    reaches = np.exp(rng.uniform(*np.log(sorted(reach)), size=n))
    return [variant(tree, columns, met, each, rng) for each in reaches]


def _raced(
    tree: CrispTree,
    moved: list[CrispTree],
    exchanged: list[CrispTree],
    settings: SearchConfig,
    selection: Selection,
) -> CrispTree | None:
    """The best change of a race, or a few changes together; None if the tree itself is best."""
    variants = [*moved, *exchanged]
    leads = selection.ahead(tree, variants, settings.rounds)
    if not leads:
        return None
    found = [variants[lead.which] for lead in leads]
    alike = [variants[lead.which] for lead in leads if lead.which < len(moved)]
    changed = [found[0], *together(tree, alike[:MOST_TOGETHER])[1:]]
    if len(changed) == 1:
        return found[0]
    index, _ = selection.careful().race([tree, *changed], (settings.confirm,))
    return changed[index - 1] if index else None


def _exchanged(
    tree: CrispTree,
    states: NDArray,
    n: int,
    most_leaves: int,
    is_list: bool,
    rng: np.random.Generator,
) -> list[CrispTree]:
    """Variants with a new question; if there is no room for it, a question that changes little is
    removed."""
    some = states[rng.permutation(len(states))[:SAMPLE]]
    columns, now, found = tree.columns(some), tree.act(some), []
    every_node = list(rows_by_node(tree, some, leaves=True))
    reached = [each for each in every_node if len(each[1]) >= FEWEST] or every_node[:1]
    for _ in range(ATTEMPTS * n):
        if len(found) == n:
            break
        node, rows = reached[int(rng.integers(len(reached)))]
        feature = int(rng.integers(columns.shape[1]))
        threshold = float(rng.choice(columns[rows, feature]))
        donor = int(rng.choice(np.flatnonzero(tree.feature < 0)))
        other = inserted(tree, node, feature, threshold, donor, bool(rng.random() < 0.5)).simplify()
        if is_list and not other.is_rule_list:
            continue
        while other.n_leaves > most_leaves:
            every = cuts(other, some)
            cut = every[min(int(rng.exponential(FAR)), len(every) - 1)]
            other = cut_away(other, cut.node, cut.child)
        if not np.array_equal(other.act(some), now):
            found.append(other)
    return found


def inserted(
    tree: CrispTree, node: int, feature: int, threshold: float, donor: int, on_true: bool
) -> CrispTree:
    """The tree with a new question in the place of a node: one of its answers is a leaf that does
    what the leaf `donor` does, the other is what stood there before."""
    at, leaf = tree.n_nodes, tree.n_nodes + 1
    moved = [*range(at), node, donor]
    columns = {name: getattr(tree, name)[moved] for name in COLUMNS}
    columns["feature"][node], columns["threshold"][node] = feature, threshold
    columns["if_true"][node], columns["if_false"][node] = (leaf, at) if on_true else (at, leaf)
    columns["action"][node] = 0 if tree.actions.kind == "box" else -1
    gains = tuple(() if i == node else tree.gains[each] for i, each in enumerate(moved))
    return replace(tree, **columns, gains=gains if tree.gains else ())


def variant(
    tree: CrispTree,
    states: NDArray,
    rows: Mapping[int, NDArray],
    reach: float,
    rng: np.random.Generator,
) -> CrispTree:
    """The tree with one change; its shape stays.

    `rows` are the numbers of the states that reach each node.
    """
    odds = BOX_ODDS if tree.actions.kind == "box" else ODDS
    change = rng.choice(CHANGES, p=odds)
    if change == "action" or tree.n_leaves == 1:
        return _with_another_action(tree, reach, rng)
    node = int(rng.choice(np.flatnonzero(tree.feature >= 0)))
    met = states[rows[node]] if len(rows[node]) >= FEWEST else states
    if change == "question":
        return _with_another_question(tree, node, met, rng)
    values = np.sort(met[:, tree.feature[node]])
    rank = np.searchsorted(values, tree.threshold[node]) / len(values)
    moved = np.clip(rank + reach * rng.normal(), 0.0, 1.0)
    threshold = tree.threshold.copy()
    threshold[node] = np.quantile(values, moved)
    return replace(tree, threshold=threshold)


def together(tree: CrispTree, variants: Sequence[CrispTree]) -> list[CrispTree]:
    """The first change, the first two, the first three, …; one change a node."""
    taken = np.zeros(tree.n_nodes, bool)
    steps, merged = [], tree
    for each in variants:
        differs = _changed_nodes(tree, each)
        if (differs & taken).any() or not differs.any():
            continue
        taken |= differs
        columns: dict[str, Any] = {
            name: _where(differs, getattr(each, name), getattr(merged, name)) for name in COLUMNS
        }
        if tree.gains:
            pairs = zip(differs, each.gains, merged.gains, strict=True)
            columns["gains"] = tuple(new if is_new else old for is_new, new, old in pairs)
        merged = replace(merged, **columns)
        steps.append(merged)
    return steps


def _changed_nodes(tree: CrispTree, other: CrispTree) -> NDArray[np.bool_]:
    differs = np.zeros(tree.n_nodes, bool)
    for name in COLUMNS:
        unequal = getattr(other, name) != getattr(tree, name)
        differs |= unequal.any(1) if unequal.ndim == 2 else unequal
    if tree.gains:
        pairs = zip(tree.gains, other.gains, strict=True)
        differs |= np.array([ours != theirs for ours, theirs in pairs])
    return differs


def _where(rows: NDArray[np.bool_], new: NDArray, old: NDArray) -> NDArray:
    return np.where(rows if new.ndim == 1 else rows[:, None], new, old)


def _with_another_action(tree: CrispTree, reach: float, rng: np.random.Generator) -> CrispTree:
    leaf = int(rng.choice(np.flatnonzero(tree.feature < 0)))
    if tree.gains and tree.gains[leaf] and rng.random() < 0.5:
        return _with_other_gains(tree, leaf, reach, rng)
    action, kind = tree.action.copy(), tree.actions.kind
    if kind == "discrete":
        action[leaf] = (action[leaf] + rng.integers(1, max(2, tree.n_actions))) % tree.n_actions
    elif kind == "multi_discrete":
        part = int(rng.integers(action.shape[1]))
        n_choices = len(tree.actions.choices[part])
        action[leaf, part] = (action[leaf, part] + rng.integers(1, max(2, n_choices))) % n_choices
    else:
        dimension = int(rng.integers(action.shape[1]))
        if rng.random() < STRONGER:
            return _with_stronger_actions(tree, dimension, float(np.exp(2 * reach * rng.normal())))
        width = ranges(tree.actions)[dimension]
        action[leaf, dimension] += reach * width * rng.normal()
        action[leaf] = _bounded(action[leaf], tree.gains[leaf] if tree.gains else (), tree.actions)
    return replace(tree, action=action)


def _with_stronger_actions(tree: CrispTree, dimension: int, factor: float) -> CrispTree:
    """Scale what all leaves do in one dimension of the action by a factor, around the middle of its
    range: a gain in one leaf may cost another."""
    middle = 0.5 * (tree.actions.low[dimension] + tree.actions.high[dimension])
    action, leaf = tree.action.copy(), tree.feature < 0
    action[leaf, dimension] = middle + factor * (action[leaf, dimension] - middle)
    gains = [
        tuple(g._replace(weight=factor * g.weight) if g.dimension == dimension else g for g in own)
        for own in tree.gains
    ]
    for node in np.flatnonzero(leaf):
        action[node] = _bounded(action[node], gains[node] if gains else (), tree.actions)
    return replace(tree, action=action, gains=tuple(gains))


def _bounded(
    values: NDArray[np.float64], gains: Sequence[Gain], actions: Actions
) -> NDArray[np.float64]:
    """The values of a leaf, within the bounds if it is constant: only a line may start beyond."""
    linear = [any(gain.dimension == d for gain in gains) for d in range(len(values))]
    return np.where(linear, values, np.clip(values, actions.low, actions.high))


def _with_other_gains(
    tree: CrispTree, leaf: int, reach: float, rng: np.random.Generator
) -> CrispTree:
    """Drop one gain of a linear leaf, or make it a little larger or smaller."""
    gains = list(tree.gains)
    terms = list(gains[leaf])
    at = int(rng.integers(len(terms)))
    dimension, feature, weight = terms[at]
    if rng.random() < 0.1:
        del terms[at]
    else:
        scaled = float(weight * np.exp(2 * reach * rng.normal()))
        terms[at] = Gain(dimension, feature, scaled)
    gains[leaf], action = tuple(terms), tree.action.copy()
    action[leaf] = _bounded(action[leaf], terms, tree.actions)
    return replace(tree, action=action, gains=tuple(gains))


def _with_another_question(
    tree: CrispTree, node: int, met: NDArray, rng: np.random.Generator
) -> CrispTree:
    """A question about any feature, at a value that was visited, in either direction."""
    feature, threshold = tree.feature.copy(), tree.threshold.copy()
    feature[node] = rng.integers(len(tree.features))
    threshold[node] = rng.choice(met[:, feature[node]])
    if rng.random() < 0.5:
        return replace(tree, feature=feature, threshold=threshold)
    if_true, if_false = tree.if_true.copy(), tree.if_false.copy()
    if_true[node], if_false[node] = if_false[node], if_true[node]
    return replace(tree, feature=feature, threshold=threshold, if_true=if_true, if_false=if_false)
