"""A tree as the statements of a program: `if` … and `return` …, with little indentation.

What is indented below an `if` always ends in `return`, so the other side needs no `else` and goes
on at the same level. The side that needs less indentation is the one that gets it: a list stays
flat, and a tree of n leaves goes at most log2(n) levels deep, whatever its shape. That keeps within
the 100 levels Python's parser reads and the 127 blocks every C compiler must nest.
"""

from collections.abc import Iterator
from typing import NamedTuple

from crisptree.crisp import CrispTree
from crisptree.crisp.route import Nodes


class If(NamedTuple):
    """If `node` gives `answer`, the deeper lines that follow apply."""

    level: int
    node: int
    answer: bool


class Return(NamedTuple):
    """The tree ends in `leaf`."""

    level: int
    leaf: int


def statements(tree: CrispTree) -> Iterator[If | Return]:
    """The tree, line by line; the TRUE side first where the two sides need the same room."""
    levels = _levels_needed(tree.nodes)
    waiting = [(0, 0)]
    while waiting:
        node, level = waiting.pop()
        feature, _, if_true, if_false = tree.nodes[node]
        if feature < 0:
            yield Return(level, node)
        elif levels[if_true] <= levels[if_false]:
            yield If(level, node, True)
            waiting += [(if_false, level), (if_true, level + 1)]
        else:
            yield If(level, node, False)
            waiting += [(if_true, level), (if_false, level + 1)]


def _levels_needed(nodes: Nodes) -> list[int]:
    """For every node how many levels its subtree takes, when the cheaper side is indented."""
    order = [0]
    for node in order:  # grows while it is read: parents come before their children
        feature, _, if_true, if_false = nodes[node]
        order += [] if feature < 0 else [if_true, if_false]
    levels = [0] * len(nodes)
    for node in reversed(order):
        feature, _, if_true, if_false = nodes[node]
        if feature >= 0:
            less, more = sorted((levels[if_true], levels[if_false]))
            levels[node] = max(less + 1, more)
    return levels
