"""Pruning: an inner node gives way to one of its children.

While the tree is large the node goes whose loss changes the fewest actions on the states that the
tree itself visits; where it is small, candidates race on return. Never many leaves at once: one
refinement does not repair a big cut.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.crispen.distill import Teacher
from crisptree.crispen.select import Selection
from crisptree.envs.host import host_envs
from crisptree.envs.seeds import block_seed

SHORTLIST = 16
CANDIDATES = 12
MOST_STATES = 20_000


@dataclass(frozen=True)
class Cut:
    """Node `node` gives way to its child `child`; `changed` states then see another action."""

    node: int
    child: int
    changed: int
    leaves: int


def visited_states(
    policy: Teacher, env_id: str, seed: int, *, n_envs: int = 64, n_steps: int = 600
) -> np.ndarray:
    """States that a policy meets on its own way, a sample of at most `MOST_STATES`."""
    envs = host_envs(env_id, n_envs)
    at = envs.reset(block_seed("selection", n_envs, seed, n_steps))
    seen = []
    for _ in range(n_steps):
        seen.append(at)
        at = envs.step(policy(at)).observation
    envs.close()
    states = np.concatenate(seen)
    chosen = np.random.default_rng(seed).permutation(len(states))[:MOST_STATES]
    return states[chosen]


def cuts(tree: CrispTree, states: np.ndarray) -> list[Cut]:
    """Every possible cut, the least changing first (of equals, the one that removes more)."""
    actions = np.asarray(tree.predict(states)[0])
    found = []
    for node, rows in rows_by_node(tree, states):
        for child in (int(tree.if_true[node]), int(tree.if_false[node])):
            other = int(tree.if_true[node] + tree.if_false[node]) - child
            as_child = _actions_below(tree, child, states[rows])
            changed = int((as_child != actions[rows]).sum())
            found.append(Cut(node, child, changed, _n_leaves_below(tree, other)))
    return sorted(found, key=lambda cut: (cut.changed, -cut.leaves))


def rows_by_node(tree: CrispTree, states: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    stack = [(0, np.arange(len(states)))]
    while stack:
        node, rows = stack.pop()
        if tree.feature[node] < 0:
            continue
        yield node, rows
        goes_true = states[rows, tree.feature[node]] > tree.threshold[node]
        stack.append((int(tree.if_true[node]), rows[goes_true]))
        stack.append((int(tree.if_false[node]), rows[~goes_true]))


def _actions_below(tree: CrispTree, root: int, states: np.ndarray) -> np.ndarray:
    actions = np.empty(len(states), np.int64)
    stack = [(root, np.arange(len(states)))]
    while stack:
        node, rows = stack.pop()
        if tree.feature[node] < 0:
            actions[rows] = tree.action[node]
            continue
        goes_true = states[rows, tree.feature[node]] > tree.threshold[node]
        stack.append((int(tree.if_true[node]), rows[goes_true]))
        stack.append((int(tree.if_false[node]), rows[~goes_true]))
    return actions


def _n_leaves_below(tree: CrispTree, root: int) -> int:
    stack, count = [root], 0
    while stack:
        node = stack.pop()
        if tree.feature[node] < 0:
            count += 1
        else:
            stack += [int(tree.if_true[node]), int(tree.if_false[node])]
    return count


def cut_away(tree: CrispTree, node: int, child: int) -> CrispTree:
    """The tree in which `child` stands in the place of `node`, simplified."""
    if node == 0:
        return _rooted(tree, child)
    if_true = np.where(tree.if_true == node, child, tree.if_true)
    if_false = np.where(tree.if_false == node, child, tree.if_false)
    return _compact(tree, if_true, if_false, 0)


def _rooted(tree: CrispTree, root: int) -> CrispTree:
    return _compact(tree, tree.if_true, tree.if_false, root)


def _compact(tree: CrispTree, if_true: np.ndarray, if_false: np.ndarray, root: int) -> CrispTree:
    """The nodes that can be reached from `root`, renumbered, simplified."""
    order: list[int] = []
    stack = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        if tree.feature[node] >= 0:
            stack += [int(if_false[node]), int(if_true[node])]
    number = np.full(tree.n_nodes, -1)
    number[order] = np.arange(len(order))

    def children(old: np.ndarray) -> np.ndarray:
        kept = old[order]
        return np.where(kept >= 0, number[kept], -1)

    return replace(
        tree,
        feature=tree.feature[order],
        threshold=tree.threshold[order],
        if_true=children(if_true),
        if_false=children(if_false),
        action=tree.action[order],
    ).simplify()


def prune_by_disagreement(tree: CrispTree, n_leaves: int, states: np.ndarray) -> CrispTree:
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
    states: np.ndarray,
    selection: Selection,
    rounds: Sequence[int] = (24, 48, 96),
) -> CrispTree:
    """Down to `n_leaves`; each cut is the best of a shortlist raced on return."""
    while tree.n_leaves > n_leaves:
        smaller = [cut_away(tree, cut.node, cut.child) for cut in cuts(tree, states)]
        # A cut that overshoots the size is a last resort.
        enough = [each for each in smaller if each.n_leaves >= n_leaves]
        shortlist = (enough or smaller)[:SHORTLIST]
        index, _ = selection.race(shortlist, rounds)
        tree = shortlist[index]
    return tree


def prune_free(
    tree: CrispTree,
    states: np.ndarray,
    selection: Selection,
    *,
    tolerance: float = 0.0,
    episodes: int = 256,
    candidates: int = CANDIDATES,
) -> CrispTree:
    """Cut while it costs nothing: the return on fresh episodes falls by `tolerance` at most.

    The tolerance is for the sum of all cuts: each is held against the tree that came in.
    """
    best = tree
    while best.n_leaves > 2:
        shortlist = _least_changed(best, states, candidates)
        index, _ = selection.race(shortlist, (32, 64))
        before, after = (
            returns.mean() for returns in selection.returns([tree, shortlist[index]], episodes)
        )
        if after < before - tolerance:
            return best
        best = shortlist[index]
    return best


def _least_changed(tree: CrispTree, states: np.ndarray, n: int) -> list[CrispTree]:
    return [cut_away(tree, cut.node, cut.child) for cut in cuts(tree, states)[:n]]


def prune_flawless(
    tree: CrispTree, states: np.ndarray, selection: Selection, rounds: Sequence[int] = (64, 256)
) -> CrispTree:
    """Cut a tree that loses nothing while it still loses nothing: a cut is out at its first loss,
    so the last round, in which all are, is over soon."""
    while tree.n_leaves > 2:
        shortlist = _least_changed(tree, states, CANDIDATES)
        found = selection.flawless(shortlist, tree.n_leaves, rounds)
        if found is None:
            return tree
        tree = shortlist[found]
    return tree
