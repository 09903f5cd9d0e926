"""The shape of a tree: which node leads where, with no parameters.

A topology is static and hashable, so that JAX compiles one program for each shape. Inner nodes and
leaves are numbered apart: a child `c >= 0` is the inner node `c`, a child `c < 0` is the leaf `~c`.
A topology without nodes is a lone leaf.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from crisptree.base.errors import CrisptreeError


@dataclass(frozen=True)
class Topology:
    """Inner nodes with their TRUE and FALSE children, root first."""

    if_true: tuple[int, ...]
    if_false: tuple[int, ...]

    def __post_init__(self) -> None:
        children = [*self.if_true, *self.if_false]
        nodes, leaves = set(range(1, self.n_nodes)), {~i for i in range(self.n_leaves)}
        if len(self.if_true) != len(self.if_false):
            raise CrisptreeError("every node of a topology needs two children")
        if self.if_true and sorted(children) != sorted(nodes | leaves):
            raise CrisptreeError("every node but the root, and every leaf, must be a child once")
        if any(0 <= child <= node for node, child in self._edges()):
            raise CrisptreeError("a child must be numbered after its parent")

    def _edges(self) -> list[tuple[int, int]]:
        return [
            (node, child)
            for children in (self.if_true, self.if_false)
            for node, child in enumerate(children)
        ]

    @property
    def n_nodes(self) -> int:
        return len(self.if_true)

    @property
    def n_leaves(self) -> int:
        return len(self.if_true) + 1

    @property
    def is_rule_list(self) -> bool:
        return all(child < 0 for child in self.if_true)


def balanced(n_leaves: int) -> Topology:
    """A tree of least depth with `n_leaves` leaves, numbered breadth first.

    For powers of two this is the complete tree; otherwise the odd leaf goes to the TRUE side.
    """
    if n_leaves < 1:
        raise CrisptreeError(f"a tree needs at least 1 leaf, not {n_leaves}")
    if n_leaves == 1:
        return Topology((), ())
    if_true: list[int] = []
    if_false: list[int] = []
    queue = deque([n_leaves])
    n_nodes, n_leaves_placed = 1, 0
    while queue:
        size = queue.popleft()
        for children, part in ((if_true, (size + 1) // 2), (if_false, size // 2)):
            if part == 1:
                children.append(~n_leaves_placed)
                n_leaves_placed += 1
            else:
                children.append(n_nodes)
                queue.append(part)
                n_nodes += 1
    return Topology(tuple(if_true), tuple(if_false))


def rule_list(n_rules: int) -> Topology:
    """Eq. 15: every TRUE branch leads to a leaf, every FALSE branch to the next rule."""
    if n_rules < 1:
        raise CrisptreeError(f"a rule list needs at least 1 rule, not {n_rules}")
    if_true = tuple(~rule for rule in range(n_rules))
    if_false = (*range(1, n_rules), ~n_rules)
    return Topology(if_true, if_false)


def from_children(
    if_true: Sequence[int], if_false: Sequence[int]
) -> tuple[Topology, tuple[int, ...], tuple[int, ...]]:
    """A topology from arrays in which nodes and leaves share one numbering and a leaf has child -1.

    Returns the topology with the old numbers of its inner nodes and of its leaves.
    """
    inner: list[int] = []
    leaves: list[int] = []
    new_number: dict[int, int] = {}
    queue = deque([0])
    while queue:
        node = queue.popleft()
        if if_true[node] < 0:
            new_number[node] = ~len(leaves)
            leaves.append(node)
        else:
            new_number[node] = len(inner)
            inner.append(node)
            queue.extend((int(if_true[node]), int(if_false[node])))
    topology = Topology(
        tuple(new_number[int(if_true[node])] for node in inner),
        tuple(new_number[int(if_false[node])] for node in inner),
    )
    return topology, tuple(inner), tuple(leaves)


@lru_cache(maxsize=256)
def path_matrices(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    """0/1 matrices (nodes, leaves): the leaf's path goes TRUE, or FALSE, at the node."""
    goes_true = np.zeros((topology.n_nodes, topology.n_leaves), np.float32)
    goes_false = np.zeros_like(goes_true)
    root = 0 if topology.n_nodes else ~0
    stack: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = [(root, (), ())]
    while stack:
        at, trues, falses = stack.pop()
        if at < 0:
            goes_true[list(trues), ~at] = 1
            goes_false[list(falses), ~at] = 1
        else:
            stack.append((topology.if_true[at], (*trues, at), falses))
            stack.append((topology.if_false[at], trues, (*falses, at)))
    return goes_true, goes_false
