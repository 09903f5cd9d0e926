"""Trees that read as a list: every comparison leads to a leaf on at least one side.

A rule list is one, and so is a tree whose comparisons end in a leaf now on the TRUE, now on the
FALSE side: if … then …, else if … then …, otherwise …
"""

from typing import NamedTuple

from crisptree.crisp import CrispTree


class Link(NamedTuple):
    """If `node` gives `answer`, the tree ends in `leaf`; otherwise the next link decides."""

    node: int
    answer: bool
    leaf: int


class Chain(NamedTuple):
    links: tuple[Link, ...]
    otherwise: int
    """The leaf where no link applied."""


def as_chain(tree: CrispTree) -> Chain | None:
    """The tree as a chain, or None if it branches."""
    links: list[Link] = []
    node = 0
    while tree.feature[node] >= 0:
        _, _, if_true, if_false = tree.nodes[node]
        if tree.feature[if_true] < 0:
            links.append(Link(node, True, if_true))
            node = if_false
        elif tree.feature[if_false] < 0:
            links.append(Link(node, False, if_false))
            node = if_true
        else:
            return None
    return Chain(tuple(links), node)
