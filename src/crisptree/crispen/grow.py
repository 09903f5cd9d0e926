"""Growing: a question is put in where a tree does otherwise than its teacher.

An insertion puts a new node above any node of the tree. What lies on one side of its threshold
gets a leaf of its own; what lies on the other goes on as before. Above a leaf that is a split, in a
list it is another rule.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.rounding import rounded_down
from crisptree.crispen.agreement import disagreement
from crisptree.crispen.prune import cut_away, cuts, rows_by_node
from crisptree.crispen.select import Selection
from crisptree.envs.policy import Policy

FEWEST = 10
"""States that a new leaf must cover."""
MOST_ACTIONS = 12
"""Actions that a new leaf may take: those that the teacher takes most often."""
MOST_STATES = 8_000
"""States that insertions are judged on."""


@dataclass(frozen=True)
class Insertion:
    """A node above `node`; where its question is answered with `when`, `action` is taken."""

    node: int
    feature: int
    threshold: float
    when: bool
    action: Any
    gain: float
    """How much less the tree disagrees with the teacher then, summed over the states."""


def insertions(tree: CrispTree, states: NDArray, wanted: NDArray) -> list[Insertion]:
    """The best insertion for each node and feature that gains anything, the best first.

    `wanted` are the actions that the teacher takes in `states`.
    """
    choices = _choices(wanted, tree)
    now = disagreement(tree.actions, tree.act(states), wanted)
    gains = [now - disagreement(tree.actions, _like(one, wanted), wanted) for one in choices]
    by_action = np.stack(gains, 1)
    found = []
    for node, rows in rows_by_node(tree, states):
        if len(rows) <= 2 * FEWEST:
            continue
        for feature in range(tree.n_features):
            best = _best_cover(states[rows, feature], by_action[rows])
            if best is not None:
                threshold, when, action, gain = best
                found.append(Insertion(node, feature, threshold, when, choices[action], gain))
    return sorted(found, key=lambda each: -each.gain)


def _choices(wanted: NDArray, tree: CrispTree) -> NDArray:
    """The actions that a new leaf may take."""
    if tree.actions.kind == "box":
        middles = np.quantile(wanted, np.linspace(0.05, 0.95, MOST_ACTIONS), axis=0)
        return np.unique(middles, axis=0)
    different, counts = np.unique(wanted, axis=0, return_counts=True)
    return different[np.argsort(-counts, kind="stable")[:MOST_ACTIONS]]


def _like(action: Any, wanted: NDArray) -> NDArray:
    """The one action in every row."""
    return np.broadcast_to(action, wanted.shape)


def _best_cover(values: NDArray, gains: NDArray) -> tuple[float, bool, int, float] | None:
    """(threshold, side, action, gain) of the half-line whose rows gain most by one action."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    below = np.cumsum(gains[order], axis=0)
    # After row i there may be a threshold, if the next value is another one.
    at = np.flatnonzero(np.diff(ranked) > 0)
    at = at[(at >= FEWEST - 1) & (at < len(values) - FEWEST)]
    if not len(at):
        return None
    sides = np.stack([below[at], below[-1] - below[at]])
    side, place, action = map(int, np.unravel_index(sides.argmax(), sides.shape))
    gain = float(sides[side, place, action])
    if gain <= 0:
        return None
    i = at[place]
    middle = rounded_down(np.asarray((float(ranked[i]) + float(ranked[i + 1])) / 2))
    return float(middle), side == 1, action, gain


def inserted(tree: CrispTree, insertion: Insertion) -> CrispTree:
    """The tree with one node and one leaf more, simplified."""
    at, moved, leaf = insertion.node, tree.n_nodes, tree.n_nodes + 1

    def column(old: NDArray, of_node: Any, of_leaf: Any) -> NDArray:
        """The new node stands where the old one stood, which moves to the end."""
        new = np.concatenate([old, old[at : at + 1], np.broadcast_to(of_leaf, old[:1].shape)])
        new[at] = of_node
        return new.astype(old.dtype)

    none = 0.0 if tree.actions.kind == "box" else -1
    gains = list(tree.gains)
    if gains:
        gains += [gains[at], ()]
        gains[at] = ()
    wider = replace(
        tree,
        feature=column(tree.feature, insertion.feature, -1),
        threshold=column(tree.threshold, insertion.threshold, 0.0),
        if_true=column(tree.if_true, leaf if insertion.when else moved, -1),
        if_false=column(tree.if_false, moved if insertion.when else leaf, -1),
        action=column(tree.action, none, insertion.action),
        gains=tuple(gains),
    )
    return wider.simplify()


def larger_trees(
    tree: CrispTree, states: NDArray, teacher: Policy, *, is_list: bool, most: int
) -> list[CrispTree]:
    """At most `most` trees with one insertion, the most promising first; a list stays one."""
    few = states[:MOST_STATES]
    found: list[CrispTree] = []
    asked = set()
    for each in insertions(tree, few, np.asarray(teacher.act(few))):
        question = each.feature, each.threshold, each.when
        if question in asked:  # the same a little further up or down
            continue
        asked.add(question)
        larger = inserted(tree, each)
        if larger.n_leaves > tree.n_leaves and (larger.is_rule_list or not is_list):
            found.append(larger)
        if len(found) == most:
            break
    return found


def grow_by_return(
    tree: CrispTree,
    n_leaves: int,
    teacher: Policy,
    selection: Selection,
    states_met_by: Callable[[CrispTree], NDArray],
    *,
    is_list: bool,
    rounds: Sequence[int] = (24, 48, 96),
    shortlist: int = 16,
    is_late: Callable[[], bool] = lambda: False,
) -> CrispTree:
    """Up to `n_leaves`; each insertion is the best of a shortlist raced on return."""
    while tree.n_leaves < n_leaves and not is_late():
        raced = larger_trees(tree, states_met_by(tree), teacher, is_list=is_list, most=shortlist)
        if not raced:
            return tree
        index, _ = selection.race(raced, rounds)
        tree = raced[index]
    return tree


def exchanges(
    tree: CrispTree,
    states: NDArray,
    teacher: Policy,
    rng: np.random.Generator,
    *,
    is_list: bool,
    most: int,
    reach: int = 24,
    cheap: int = 6,
) -> list[CrispTree]:
    """Trees of the same size with one question exchanged: a promising one for a cheap one.

    The question put in is one of the `reach` most promising, the one taken out one of the `cheap`
    whose loss then changes least.
    """
    few = states[:MOST_STATES]
    larger = larger_trees(tree, few, teacher, is_list=is_list, most=reach)
    found: list[CrispTree] = []
    for at in rng.permutation(len(larger))[:most].tolist():
        wide = larger[at]
        smaller = (cut_away(wide, cut.node, cut.child) for cut in cuts(wide, few)[: 2 * cheap])
        kept = [each for each in smaller if 2 <= each.n_leaves <= tree.n_leaves and each != tree]
        if kept:
            found.append(kept[int(rng.integers(min(cheap, len(kept))))])
    return found
