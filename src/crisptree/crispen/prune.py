"""Pruning: an inner node gives way to one of its children.

While the tree is large the node goes whose loss changes least of what the tree does on the states
that it visits itself; where it is small, candidates race on return. Never many leaves at once: one
refinement does not repair a big cut.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crispen.agreement import disagreement
from crisptree.crispen.select import Selection
from crisptree.envs.policy import Policy
from crisptree.envs.rollout import rollout
from crisptree.envs.seeds import block_seed
from crisptree.envs.task import Task

RACES = 5
"""Races in which a tree is cut down to a size: several cuts are made after each."""


@dataclass(frozen=True)
class Cut:
    """Node `node` gives way to its child `child`; `changed` is how much the actions then differ,
    summed over the states."""

    node: int
    child: int
    changed: float
    leaves: int
    """Leaves that go."""


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
    """States that a policy meets on its own way, a sample of at most `most`; `until` is when it
    must be over, on `time.monotonic`'s clock."""
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


def rows_by_node(tree: CrispTree, states: NDArray) -> Iterator[tuple[int, NDArray]]:
    """Every inner node with the numbers of the states that reach it."""
    states, stack = tree.columns(states), [(0, np.arange(len(states)))]
    while stack:
        node, rows = stack.pop()
        if tree.feature[node] < 0:
            continue
        yield node, rows
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
    """Down to `n_leaves`, one least changing cut after the other."""
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
    rounds: Sequence[int] = (24, 48),
    shortlist: int = 16,
    is_late: Callable[[], bool] = lambda: False,
) -> CrispTree:
    """Down to `n_leaves` by cuts that race on return, in about `RACES` races.

    Each race has a shortlist of the least changing cuts; the best of them are made together. Where
    `is_late` says so, the least changing cuts are made without a race.
    """
    most = -(-(tree.n_leaves - n_leaves) // RACES)
    while tree.n_leaves > n_leaves:
        if is_late():
            return prune_by_disagreement(tree, n_leaves, states)
        every = [(cut, cut_away(tree, cut.node, cut.child)) for cut in cuts(tree, states)]
        # A cut that overshoots the size is a last resort.
        enough = [(cut, each) for cut, each in every if each.n_leaves >= n_leaves]
        raced = (enough or every)[:shortlist]
        ranked = selection.finalists([each for _, each in raced], rounds)
        best = raced[ranked[0][0]][1]
        made = [raced[index][0] for index, _ in ranked[:most]]
        tree = _cut_together(tree, made, n_leaves) or best
    return tree


def _cut_together(tree: CrispTree, made: Sequence[Cut], n_leaves: int) -> CrispTree | None:
    """The tree after as many of the cuts, the first first, as leave it large enough."""
    if_true, if_false, root, cut_tree = tree.if_true, tree.if_false, 0, None
    for cut in made:
        if_true = np.where(if_true == cut.node, cut.child, if_true)
        if_false = np.where(if_false == cut.node, cut.child, if_false)
        root = cut.child if root == cut.node else root
        smaller = _compact(tree, if_true, if_false, root).simplify()
        if smaller.n_leaves < n_leaves:
            break
        cut_tree = smaller
    return cut_tree


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
    """Cut while it costs nothing on fresh episodes; each cut is held against the first tree."""
    best = tree
    while best.n_leaves > 2 and not is_late():
        few = [cut_away(best, cut.node, cut.child) for cut in cuts(best, states)[:shortlist]]
        index, _ = selection.race(few, rounds)
        before, after = selection.returns([tree, few[index]], episodes).mean(1)
        if after < before:
            return best
        best = few[index]
    return best
