"""The one traversal of a tree: depth first, TRUE before FALSE."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from crisptree.crisp.route import Nodes

Observation = Sequence[int | float] | np.ndarray


class Condition(NamedTuple):
    """`above < x[feature] <= at_most`: all comparisons of one feature on a path, combined."""

    feature: int
    above: float = -math.inf
    at_most: float = math.inf

    def holds(self, observation: Observation) -> bool:
        # Not one chained comparison: an observation of -inf is not above -inf.
        value = float(observation[self.feature])
        return (value > self.above or self.above == -math.inf) and value <= self.at_most

    @property
    def is_empty(self) -> bool:
        """Whether no number meets it."""
        return self.above >= self.at_most


class Visit(NamedTuple):
    """A node as a traversal meets it, with the path that led there."""

    node: int
    depth: int
    """Comparisons on the way; 0 at the root."""
    parent: int
    """-1 at the root."""
    branch: bool | None
    """The parent's answer that leads here; None at the root."""
    conditions: Mapping[int, Condition]
    """The conditions of the path, in the order in which it first looks at each feature."""
    feature: int
    """-1 at a leaf, as in the tree's arrays; so are the next three."""
    threshold: float
    if_true: int
    if_false: int

    @property
    def is_leaf(self) -> bool:
        return self.feature < 0

    @property
    def is_reachable(self) -> bool:
        """Whether any observation can come here."""
        return not any(condition.is_empty for condition in self.conditions.values())


def walk(nodes: Nodes) -> Iterator[Visit]:
    """Every node, parents before their children, TRUE before FALSE."""
    waiting = [Visit(0, 0, -1, None, {}, *nodes[0])]
    while waiting:
        visit = waiting.pop()
        yield visit
        node, depth, _, _, conditions, feature, threshold, if_true, if_false = visit
        if feature < 0:
            continue
        known = conditions.get(feature) or Condition(feature)
        below = {**conditions, feature: known._replace(at_most=min(known.at_most, threshold))}
        above = {**conditions, feature: known._replace(above=max(known.above, threshold))}
        waiting.append(Visit(if_false, depth + 1, node, False, below, *nodes[if_false]))
        waiting.append(Visit(if_true, depth + 1, node, True, above, *nodes[if_true]))


def top_down(nodes: Nodes) -> list[int]:
    """The numbers of all nodes in the order of `walk`, without what it knows of their ways."""
    order = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        feature, _, if_true, if_false = nodes[node]
        if feature >= 0:
            waiting += (if_false, if_true)
    return order


def depths(nodes: Nodes) -> list[int]:
    """How many comparisons lead to each node."""
    found = [0] * len(nodes)
    for node in top_down(nodes):
        feature, _, if_true, if_false = nodes[node]
        if feature >= 0:
            found[if_true] = found[if_false] = found[node] + 1
    return found
