"""The same policy with fewer nodes, as in the paper's pruned figures.

Three kinds of node go, and none of them changes the action for any observation:

- a node whose answer earlier comparisons on the path settle (x > 3 below x > 5), with the branch
  that cannot be reached. TRUE means x > t and FALSE x ≤ t, so below FALSE of x > 3 the answer to
  x > 3 is FALSE;
- a node whose two sides are the same leaf, or come to the same subtree;
- a node that one of its sides makes needless: of "x > 7 → A, else x > 5 → A, else B" the first
  rule can go, because where x > 7 the rest says A as well.

The nodes that stay are numbered depth first, TRUE child first.
"""

from dataclasses import replace

from crisptree.crisp.nested import columns
from crisptree.crisp.rules import Condition
from crisptree.crisp.tree import CrispTree

Subtree = int
Key = tuple[int, float, Subtree, Subtree]
LEAF = -1


class Subtrees:
    """Subtrees by number; equal ones have one number, so that comparing them is comparing ints."""

    def __init__(self) -> None:
        self.keys: list[Key] = []
        self._numbers: dict[Key, Subtree] = {}
        self._without: dict[tuple[Subtree, int, bool], Subtree] = {}

    def leaf(self, action: int) -> Subtree:
        return self._number((LEAF, 0.0, action, action))

    def node(self, feature: int, threshold: float, if_true: Subtree, if_false: Subtree) -> Subtree:
        """The node, or its side where the other side has nothing to add."""
        if if_true == if_false:
            return if_true
        # Nodes on this feature inside `if_true` compare with more than `threshold` (others were
        # settled), so for x ≤ threshold they are all FALSE; inside `if_false` the reverse.
        if self.without(if_true, feature, False) == if_false:
            return if_true
        if self.without(if_false, feature, True) == if_true:
            return if_false
        return self._number((feature, threshold, if_true, if_false))

    def opened(self, subtree: Subtree) -> int | Key:
        """A leaf's action, or a node's feature, threshold and sides."""
        feature, _, action, _ = self.keys[subtree]
        return action if feature == LEAF else self.keys[subtree]

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


def simplify(tree: CrispTree) -> CrispTree:
    """The same action for every observation; never larger; simplifying twice changes nothing."""
    while True:
        subtrees = Subtrees()
        root = _reduced(tree, subtrees)
        smaller = replace(tree, **columns(root, subtrees.opened))
        if smaller.n_nodes == tree.n_nodes:
            return smaller
        tree = smaller


def _reduced(tree: CrispTree, subtrees: Subtrees) -> Subtree:
    """One pass from the leaves up, each node seen with what its path says about its feature."""
    parents_first: list[tuple[int, tuple[int, ...]]] = []
    waiting: list[tuple[int, dict[int, Condition]]] = [(0, {})]
    nodes, actions = tree.nodes, tree.action.tolist()
    while waiting:
        node, path = waiting.pop()
        feature, threshold, if_true, if_false = nodes[node]
        if feature < 0:
            sides: tuple[int, ...] = ()
        else:
            known = path.get(feature, Condition(feature))
            if threshold <= known.above:
                sides = (if_true,)
                waiting.append((if_true, path))
            elif threshold >= known.at_most:
                sides = (if_false,)
                waiting.append((if_false, path))
            else:
                sides = (if_true, if_false)
                waiting.append((if_true, {**path, feature: known._replace(above=threshold)}))
                waiting.append((if_false, {**path, feature: known._replace(at_most=threshold)}))
        parents_first.append((node, sides))
    done: dict[int, Subtree] = {}
    for node, sides in reversed(parents_first):
        if not sides:
            done[node] = subtrees.leaf(actions[node])
        elif len(sides) == 1:
            done[node] = done[sides[0]]
        else:
            feature, threshold, if_true, if_false = nodes[node]
            done[node] = subtrees.node(feature, threshold, done[if_true], done[if_false])
    return done[0]
