"""Local search on the crisp tree itself: small changes raced on return.

Gradients end where the tree is crisp: a soft tree that earns as much as can be earned may still
be read off with a threshold a little to one side. Here a threshold moves, a question or a leaf's
action is exchanged, and what earns more on fresh selection episodes stays.
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
from crisptree.crispen.prune import rows_by_node
from crisptree.crispen.select import Selection

CHANGES = ("threshold", "question", "action")
ODDS = (0.7, 0.15, 0.15)
BOX_ODDS = (0.45, 0.15, 0.4)
"""Real actions can be moved a little, so it pays to try them more often."""
STRONGER = 0.15
"""Share of the changes of real actions that change those of all leaves, by one factor."""
WIDTH = 24
"""Changed trees in a sweep, unless the settings say otherwise."""
COLUMNS = ("feature", "threshold", "if_true", "if_false", "action")
MOST_TOGETHER = 3
MOST_TIMES = 4
"""How many times as many episodes a sweep plays at most."""
FEWEST = 20
"""States that must have met a node for its neighbourhood to be told from them."""


def search(
    tree: CrispTree,
    settings: SearchConfig,
    selection: Selection,
    states_met_by: Callable[[CrispTree], NDArray],
    rng: np.random.Generator,
    report: Callable[[int, CrispTree], object] = lambda sweep, tree: None,
    is_late: Callable[[], bool] = lambda: False,
) -> CrispTree:
    """The tree after at most `settings.sweeps` sweeps; each keeps a few changes or none.

    The search ends early where nothing was gained for a while, or where `is_late` says so. After
    a sweep without a gain twice as many episodes are played: what is left to gain is hard to see.
    """
    tree = tree.simplify()
    states, idle, width = None, 0, settings.width or WIDTH
    for sweep in range(settings.sweeps):
        if is_late():
            break
        states = tree.columns(states_met_by(tree)) if states is None else states
        first, last = settings.reach
        reach = first * (last / first) ** (sweep / settings.sweeps)
        met = dict(rows_by_node(tree, states))
        variants = [variant(tree, states, met, reach, rng) for _ in range(width)]
        better = _raced(tree, variants, settings, selection, min(2**idle, MOST_TIMES))
        idle += 1
        if better is not None:
            tree, idle, states = better, 0, None
        report(sweep + 1, tree)
        if idle == settings.patience:
            break
    return tree.simplify()


def _raced(
    tree: CrispTree,
    variants: list[CrispTree],
    settings: SearchConfig,
    selection: Selection,
    times: int,
) -> CrispTree | None:
    """The few best changes of a race, if they earn more on fresh episodes too.

    The race has `times` as many episodes as the settings say.
    """
    # The tree itself stands first, so that it wins where nothing earns more.
    rounds = [times * episodes for episodes in settings.rounds]
    ranked = [index for index, _ in selection.finalists([tree, *variants], rounds)]
    ahead = ranked[: ranked.index(0)] if 0 in ranked else ranked
    if not ahead:
        return None
    changed = together(tree, [variants[index - 1] for index in ahead[:MOST_TOGETHER]])
    if not changed:
        return None
    judge = selection.careful()
    before, *after = judge.returns([tree, *changed], times * settings.confirm).mean(1)
    return changed[int(np.argmax(after))] if max(after) > before else None


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
    """What all leaves do in one dimension of the action becomes stronger or weaker by a factor, as
    seen from the middle of its range: what one leaf saves may cost another."""
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
    """What a leaf holds, within the bounds where it is constant: only a line may start beyond."""
    linear = [any(gain.dimension == d for gain in gains) for d in range(len(values))]
    return np.where(linear, values, np.clip(values, actions.low, actions.high))


def _with_other_gains(
    tree: CrispTree, leaf: int, reach: float, rng: np.random.Generator
) -> CrispTree:
    """One gain of a linear leaf is dropped, or becomes a little larger or smaller."""
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
    """Any feature, at a value that was met, either way round."""
    feature, threshold = tree.feature.copy(), tree.threshold.copy()
    feature[node] = rng.integers(len(tree.features))
    threshold[node] = rng.choice(met[:, feature[node]])
    if rng.random() < 0.5:
        return replace(tree, feature=feature, threshold=threshold)
    if_true, if_false = tree.if_true.copy(), tree.if_false.copy()
    if_true[node], if_false[node] = if_false[node], if_true[node]
    return replace(tree, feature=feature, threshold=threshold, if_true=if_true, if_false=if_false)
