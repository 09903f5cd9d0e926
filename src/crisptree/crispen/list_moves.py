"""Changes that only rule lists have: two rules exchange their places.

The order of a list is half of what it says: a rule decides only what no rule before it took.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from crisptree.crisp import CrispTree


class Place(NamedTuple):
    """A rule of a list, where it stands."""

    node: int
    leaf: int
    following: int
    """The next rule, or what is done otherwise."""
    answer: bool
    """Whether the rule decides where its comparison is TRUE."""


def places(tree: CrispTree) -> list[Place]:
    """The rules of a list, the first one first."""
    found, node = [], 0
    while tree.feature[node] >= 0:
        if_true, if_false = int(tree.if_true[node]), int(tree.if_false[node])
        answer = bool(tree.feature[if_true] < 0)
        leaf, following = (if_true, if_false) if answer else (if_false, if_true)
        found.append(Place(node, leaf, following, answer))
        node = following
    return found


def with_rules_exchanged(tree: CrispTree, rng: np.random.Generator) -> CrispTree:
    """The list in which two rules, mostly neighbours, have changed places."""
    rules = places(tree)
    if len(rules) < 2:
        return tree
    first = int(rng.integers(len(rules) - 1))
    second = min(len(rules) - 1, first + int(rng.geometric(0.5)))
    feature, threshold, action = tree.feature.copy(), tree.threshold.copy(), tree.action.copy()
    if_true, if_false, gains = tree.if_true.copy(), tree.if_false.copy(), list(tree.gains)
    pair = rules[first], rules[second]
    for here, other in (pair, pair[::-1]):
        feature[here.node] = tree.feature[other.node]
        threshold[here.node] = tree.threshold[other.node]
        action[here.leaf] = tree.action[other.leaf]
        if gains:
            gains[here.leaf] = tree.gains[other.leaf]
        sides = (here.leaf, here.following) if other.answer else (here.following, here.leaf)
        if_true[here.node], if_false[here.node] = sides
    return replace(
        tree,
        feature=feature,
        threshold=threshold,
        if_true=if_true,
        if_false=if_false,
        action=action,
        gains=tuple(gains),
    )
