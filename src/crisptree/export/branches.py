"""A tree as `if … else if … else …`, with little indentation.

A chain asks one question after the other; the first that gets its answer decides which block
applies, and the last block is for when none does. A block is a leaf or another chain. The side of a
node that needs less room becomes the block, the other goes on in the chain: a list is one chain,
and a tree of n leaves has chains within chains at most log2(n) deep, whatever its shape. That keeps
within the 100 levels Python's parser reads and the 127 blocks every C compiler must nest.
"""

from collections.abc import Iterator
from typing import NamedTuple

from crisptree.crisp import CrispTree


class Case(NamedTuple):
    """If `node` gives `answer`, `then` applies: a leaf, by its number, or a chain."""

    node: int
    answer: bool
    then: "int | Chain"


class Chain(NamedTuple):
    """The first case that holds decides; without one the tree ends in the leaf `otherwise`."""

    cases: tuple[Case, ...]
    otherwise: int


def chain(tree: CrispTree) -> Chain:
    """The whole tree; a lone leaf is a chain without cases."""
    return _from(tree, 0, _levels_needed(tree))


def _from(tree: CrispTree, node: int, levels: list[int]) -> Chain:
    cases = []
    feature, _, if_true, if_false = tree.nodes[node]
    while feature >= 0:
        answer = levels[if_true] <= levels[if_false]
        block, rest = (if_true, if_false) if answer else (if_false, if_true)
        is_leaf = tree.nodes[block][0] < 0
        cases.append(Case(node, answer, block if is_leaf else _from(tree, block, levels)))
        node = rest
        feature, _, if_true, if_false = tree.nodes[node]
    return Chain(tuple(cases), node)


def _levels_needed(tree: CrispTree) -> list[int]:
    """For every node how many levels its subtree takes, when the cheaper side is indented."""
    levels = [0] * tree.n_nodes
    for node in reversed(tree.order):
        feature, _, if_true, if_false = tree.nodes[node]
        if feature >= 0:
            less, more = sorted((levels[if_true], levels[if_false]))
            levels[node] = max(less + 1, more)
    return levels


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
    """The tree, line by line, for languages with `return`: what is indented below an `if` always
    returns, so the other side needs no `else` and goes on at the same level."""
    return _lines(chain(tree), 0)


def _lines(block: int | Chain, level: int) -> Iterator[If | Return]:
    if isinstance(block, int):
        yield Return(level, block)
        return
    for case in block.cases:
        yield If(level, case.node, case.answer)
        yield from _lines(case.then, level + 1)
    yield Return(level, block.otherwise)
