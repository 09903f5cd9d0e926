"""Pruning: an inner node is replaced by one of its children.

Nodes are removed whose loss changes little on the states that the tree visits itself, and many ways
to choose them race on return. Few leaves go at a time: one refinement does not repair a big cut.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crispen.agreement import disagreement
from crisptree.crispen.config import PruneConfig
from crisptree.crispen.fit_linear import refitted
from crisptree.crispen.select import Selection
from crisptree.envs.policy import Policy
from crisptree.envs.rollout import rollout
from crisptree.envs.seeds import block_seed
from crisptree.envs.task import Task

ATTEMPTS = 6
"""Orders of cuts tried for each distinct result that is wanted; many lead to the same tree."""
LEAST_CHANGE = 1e-3
"""Changes of a smaller share of the states count about alike."""


@dataclass(frozen=True)
class Cut:
    """Node `node` is replaced by its child `child`; `changed` is how much the actions then differ,
    summed over the states."""

    node: int
    child: int
    changed: float
    leaves: int
    """Leaves that are removed."""


def ladder(leaves: int, target: int, step: float) -> list[int]:
    """Sizes on the way down: a share of the leaves at a time, one at least.

    One refinement does not repair a big cut.
    """
    sizes = []
    while leaves > target:
        leaves = max(target, min(leaves - 1, round(leaves * step)))
        sizes.append(leaves)
    return sizes


def visited_states(
    policy: Policy,
    task: Task,
    seed: int,
    *,
    most: int = 20_000,
    episodes: int = 64,
    until: float = math.inf,
) -> NDArray:
    """A sample of at most `most` states that a policy visits; `until` is when playing must be over,
    on `time.monotonic`'s clock."""
    first = block_seed("selection", episodes, seed, most)
    seeds = range(first, first + episodes)
    seen = rollout([policy], task, seeds, record=True, fast=True, deadline=until)
    assert seen.observations is not None
    chosen = np.random.default_rng(seed).permutation(len(seen.observations))[:most]
    return seen.observations[chosen]


def cuts(tree: CrispTree, states: NDArray) -> list[Cut]:
    """Every possible cut, the least changing first (of equals, the one that removes more)."""
    actions = tree.act(states)
    found = []
    for node, rows in rows_by_node(tree, states):
        for child in (int(tree.if_true[node]), int(tree.if_false[node])):
            other = int(tree.if_true[node] + tree.if_false[node]) - child
            instead = _rooted(tree, child).act(states[rows])
            changed = float(disagreement(tree.actions, instead, actions[rows]).sum())
            found.append(Cut(node, child, changed, _n_leaves_below(tree, other)))
    return sorted(found, key=lambda cut: (cut.changed, -cut.leaves))


def rows_by_node(
    tree: CrispTree, states: NDArray, *, leaves: bool = False
) -> Iterator[tuple[int, NDArray]]:
    """Every inner node, or every node, with the numbers of the states that reach it."""
    states, stack = tree.columns(states), [(0, np.arange(len(states)))]
    while stack:
        node, rows = stack.pop()
        is_leaf = tree.feature[node] < 0
        if leaves or not is_leaf:
            yield node, rows
        if is_leaf:
            continue
        goes_true = states[rows, tree.feature[node]] > tree.threshold[node]
        stack.append((int(tree.if_true[node]), rows[goes_true]))
        stack.append((int(tree.if_false[node]), rows[~goes_true]))


def _n_leaves_below(tree: CrispTree, root: int) -> int:
    below = _below(tree.if_true, tree.if_false, root)
    return int((tree.feature[below] < 0).sum())


def _below(if_true: NDArray, if_false: NDArray, root: int) -> list[int]:
    """The nodes that can be reached from `root`, itself first."""
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        order.append(node)
        if if_true[node] >= 0:
            stack += [int(if_false[node]), int(if_true[node])]
    return order


def cut_away(tree: CrispTree, node: int, child: int) -> CrispTree:
    """The tree in which `child` stands in the place of `node`, simplified."""
    if node == 0:
        return _rooted(tree, child).simplify()
    if_true = np.where(tree.if_true == node, child, tree.if_true)
    if_false = np.where(tree.if_false == node, child, tree.if_false)
    return _compact(tree, if_true, if_false, 0).simplify()


def _rooted(tree: CrispTree, root: int) -> CrispTree:
    return _compact(tree, tree.if_true, tree.if_false, root)


def _compact(tree: CrispTree, if_true: NDArray, if_false: NDArray, root: int) -> CrispTree:
    """The nodes that can be reached from `root`, renumbered."""
    order = _below(if_true, if_false, root)
    number = np.full(tree.n_nodes, -1)
    number[order] = np.arange(len(order))

    def children(old: NDArray) -> NDArray:
        kept = old[order]
        return np.where(kept >= 0, number[kept], -1)

    return replace(
        tree,
        feature=tree.feature[order],
        threshold=tree.threshold[order],
        if_true=children(if_true),
        if_false=children(if_false),
        action=tree.action[order],
        gains=tuple(tree.gains[node] for node in order) if tree.gains else (),
    )


def prune_by_disagreement(tree: CrispTree, n_leaves: int, states: NDArray) -> CrispTree:
    """The tree cut down to `n_leaves`, by the least changing cut each time."""
    while tree.n_leaves > n_leaves:
        allowed = [cut for cut in cuts(tree, states) if tree.n_leaves - cut.leaves >= 2]
        small = [cut for cut in allowed if tree.n_leaves - cut.leaves >= n_leaves] or allowed
        if not small:
            return tree
        tree = cut_away(tree, small[0].node, small[0].child)
    return tree


def prune_by_return(
    tree: CrispTree,
    n_leaves: int,
    states: NDArray,
    selection: Selection,
    rng: np.random.Generator,
    config: PruneConfig,
    is_late: Callable[[], bool] = lambda: False,
    seconds_left: Callable[[], float] = lambda: math.inf,
) -> CrispTree:
    """The tree cut down to `n_leaves` in a few steps; in each step many ways to cut race on return.

    Each way makes the least changing cuts first, in an order of its own. Ways are compared as a
    whole: cuts that cost nothing one by one may cost much together. Where leaves are lines, half
    as many ways race, each also with new lines in the leaves that took over states. If fewer steps
    are needed than allowed, each has more episodes; if there is too little time for all races,
    there are fewer. If `is_late`, the least changing cuts are made without a race, which may cost
    all that was learned.
    """
    races = max(1, min(config.races, tree.n_leaves - n_leaves))
    rounds = [round(episodes * config.races / races) for episodes in config.rounds]
    while tree.n_leaves > n_leaves:
        if is_late():
            smaller = prune_by_disagreement(tree, n_leaves, states)
            return refitted(smaller, tree, states) if tree.is_linear else smaller
        began, excess = time.monotonic(), tree.n_leaves - n_leaves
        size = n_leaves + excess - math.ceil(excess / races)
        every = _ways(tree, size, states, rng, config.ways)
        if tree.is_linear:
            every = every[: math.ceil(config.ways / 2)]
            every += [refitted(each, tree, states) for each in every]
        smaller = every[selection.race(every, rounds)[0]]
        if smaller.n_leaves == tree.n_leaves:  # the rest cannot be cut
            break
        tree = smaller
        fitting = seconds_left() / max(time.monotonic() - began, 1e-9)
        races = max(1, int(min(races - 1, fitting)))
    return tree


def _ways(
    tree: CrispTree, n_leaves: int, states: NDArray, rng: np.random.Generator, count: int
) -> list[CrispTree]:
    """The tree cut to a size in up to `count` different ways. The first makes the least changing
    cuts; later ones deviate from that order more and more."""
    found = cuts(tree, states)
    changed = np.log([LEAST_CHANGE * len(states) + cut.changed for cut in found])
    ways: dict[bytes, CrispTree] = {}
    for attempt in range(ATTEMPTS * count):
        noise = attempt / count * rng.normal(size=len(found))
        order = np.argsort(changed + noise, kind="stable")
        smaller = _cut_in_order(tree, [found[i] for i in order], n_leaves)
        smaller = prune_by_disagreement(smaller, n_leaves, states)
        columns = (smaller.feature, smaller.threshold, smaller.action)
        ways.setdefault(b"".join(column.tobytes() for column in columns), smaller)
        if len(ways) == count:
            break
    return list(ways.values())


def _cut_in_order(tree: CrispTree, order: Sequence[Cut], n_leaves: int) -> CrispTree:
    """The tree after the first of the cuts that leave it large enough."""
    if_true, if_false, root, smaller = tree.if_true, tree.if_false, 0, tree
    for cut in order:
        if smaller.n_leaves == n_leaves:
            break
        if smaller.n_leaves - cut.leaves < n_leaves:
            continue
        new_true = np.where(if_true == cut.node, cut.child, if_true)
        new_false = np.where(if_false == cut.node, cut.child, if_false)
        new_root = cut.child if root == cut.node else root
        cut_tree = _compact(tree, new_true, new_false, new_root).simplify()
        if cut_tree.n_leaves >= n_leaves:
            if_true, if_false, root, smaller = new_true, new_false, new_root, cut_tree
    return smaller


def prune_free(
    tree: CrispTree,
    states: NDArray,
    selection: Selection,
    *,
    episodes: int = 256,
    shortlist: int = 12,
    rounds: Sequence[int] = (32, 64),
    is_late: Callable[[], bool] = lambda: False,
) -> CrispTree:
    """The tree after cuts that certainly cost nothing on fresh episodes; each is compared with the
    first tree."""
    best, judge = tree, selection.careful()
    while best.n_leaves > 2 and not is_late():
        few = [cut_away(best, cut.node, cut.child) for cut in cuts(best, states)[:shortlist]]
        index, _ = selection.race(few, rounds)
        before, after = judge.returns([tree, few[index]], episodes)
        gain = after - before
        doubt = float(gain.std() / math.sqrt(len(gain)))
        if gain.mean() < doubt:  # no doubt if all episodes are equal
            return best
        best = few[index]
    return best
