"""The same policy with fewer nodes, as in the paper's pruned figures.

Three kinds of node go, and none of them changes the action for any observation:

- a node whose answer earlier comparisons on the path settle (x > 3 below x > 5), with the branch
  that cannot be reached. TRUE means x > t and FALSE x ≤ t, so below FALSE of x > 3 the answer to
  x > 3 is FALSE. A flag is 0 or 1: one comparison between them settles all others;
- a node whose two sides are the same leaf, or come to the same subtree;
- a node that one of its sides makes needless: of "x > 7 → A, else x > 5 → A, else B" the first
  rule can go, because where x > 7 the rest says A as well.

The nodes that stay are numbered depth first, TRUE child first.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from crisptree.crisp.nested import Leaf, columns
from crisptree.crisp.walk import Visit

Subtree = int
Tree = TypeVar("Tree", bound=Any)
"""A CrispTree, whose module imports this one."""
Key = tuple[int, float, Subtree, Subtree]
LEAF = -1


class Subtrees:
    """Subtrees by number; equal ones have one number, so that comparing them is comparing ints."""

    def __init__(self) -> None:
        self.keys: list[Key] = []
        self._leaves: dict[Leaf, int] = {}
        self._numbers: dict[Key, Subtree] = {}
        self._without: dict[tuple[Subtree, int, bool], Subtree] = {}

    def leaf(self, leaf: Leaf) -> Subtree:
        number = self._leaves.setdefault(leaf, len(self._leaves))
        return self._number((LEAF, 0.0, number, number))

    def node(self, feature: int, threshold: float, if_true: Subtree, if_false: Subtree) -> Subtree:
        """The node, or one of its sides if the other side adds nothing."""
        if if_true == if_false:
            return if_true
        # Nodes on this feature inside `if_true` compare with more than `threshold` (others were
        # settled), so for x ≤ threshold they are all FALSE; inside `if_false` the reverse.
        if self.without(if_true, feature, False) == if_false:
            return if_true
        if self.without(if_false, feature, True) == if_true:
            return if_false
        return self._number((feature, threshold, if_true, if_false))

    def opener(self) -> Callable[[Subtree], Leaf | Key]:
        """A function from the number of a subtree to its leaf, or to its feature, threshold and
        sides."""
        leaves = list(self._leaves)

        def opened(subtree: Subtree) -> Leaf | Key:
            feature, _, leaf, _ = self.keys[subtree]
            return leaves[leaf] if feature == LEAF else self.keys[subtree]

        return opened

    def without(self, subtree: Subtree, feature: int, answer: bool) -> Subtree:
        """`subtree` where every node on `feature` gives `answer`."""
        pending: set[Subtree] = set()
        waiting = [subtree]
        while waiting:
            current = waiting.pop()
            if current not in pending and (current, feature, answer) not in self._without:
                pending.add(current)
                of, _, if_true, if_false = self.keys[current]
                waiting += [] if of == LEAF else [if_true, if_false]
        for current in sorted(pending):  # a side was numbered before the node it belongs to
            of, threshold, if_true, if_false = self.keys[current]
            if of == LEAF:
                result = current
            else:
                true = self._without[if_true, feature, answer]
                false = self._without[if_false, feature, answer]
                if of == feature or true == false:
                    result = true if answer else false
                else:
                    result = self._number((of, threshold, true, false))
            self._without[current, feature, answer] = result
        return self._without[subtree, feature, answer]

    def _number(self, key: Key) -> Subtree:
        if key not in self._numbers:
            self._numbers[key] = len(self.keys)
            self.keys.append(key)
        return self._numbers[key]


def simplify(tree: Tree) -> Tree:
    """The same action for every observation; never larger; simplifying twice changes nothing."""
    while True:
        subtrees = Subtrees()
        root = _reduced(tree, subtrees)
        smaller = replace(tree, **columns(root, subtrees.opener()))
        if smaller.n_nodes == tree.n_nodes:
            return smaller
        tree = smaller


def _reduced(tree: Any, subtrees: Subtrees) -> Subtree:
    """One pass from the leaves up, each node seen with what its path says about its feature."""
    done: dict[int, Subtree] = {}
    for visit in reversed(list(tree.walk())):
        if visit.is_leaf:
            done[visit.node] = subtrees.leaf(tree.leaf_at(visit.node))
            continue
        answer = _settled(visit, tree.features[visit.feature].kind == "flag")
        sides = done[visit.if_true], done[visit.if_false]
        if answer is None:
            done[visit.node] = subtrees.node(visit.feature, visit.threshold, *sides)
        else:
            done[visit.node] = sides[0] if answer else sides[1]
    return done[0]


def _settled(visit: Visit, is_flag: bool) -> bool | None:
    """The answer of a node that does not depend on the observation, or None."""
    known = visit.conditions.get(visit.feature)
    if is_flag and (visit.threshold < 0 or visit.threshold >= 1):
        return visit.threshold < 0
    if known is None:
        return None
    if visit.threshold <= known.above or (is_flag and known.above >= 0):
        return True
    if visit.threshold >= known.at_most or (is_flag and known.at_most < 1):
        return False
    return None
