"""Where the nodes of a drawn tree go: a tidy layout in the manner of Reingold and Tilford.

Each subtree is laid out once and remembers its outline, level by level; two sides are pushed apart
until their outlines leave a gap on every level, and their parent sits midway above them. Equal
subtrees get equal drawings, and nothing overlaps.
"""

from collections.abc import Collection

from crisptree.crisp import CrispTree

Outline = list[tuple[float, float]]
"""For every level from a node down: how far its subtree reaches to either side of the node."""


def tidy(
    tree: CrispTree, sizes: list[float], gap: float, ends: Collection[int] = ()
) -> list[float]:
    """The centre of every node across the levels, with the root at 0; `sizes` are the nodes'
    widths. The TRUE side comes first. What lies below `ends` takes no room."""
    outlines: dict[int, Outline] = {}
    half_distance: dict[int, float] = {}
    for node in reversed(tree.order):
        feature, _, if_true, if_false = tree.nodes[node]
        outline = [(-sizes[node] / 2, sizes[node] / 2)]
        if feature >= 0 and node not in ends:
            first, second = outlines.pop(if_true), outlines.pop(if_false)
            distance = gap + max(
                high - low for (_, high), (low, _) in zip(first, second, strict=False)
            )
            half_distance[node] = distance / 2
            outline += _side_by_side(first, second, distance / 2)
        outlines[node] = outline
    centres = [0.0] * tree.n_nodes
    for node in tree.order:
        feature, _, if_true, if_false = tree.nodes[node]
        if feature >= 0 and node not in ends:
            centres[if_true] = centres[node] - half_distance[node]
            centres[if_false] = centres[node] + half_distance[node]
    return centres


def _side_by_side(first: Outline, second: Outline, half: float) -> Outline:
    """The outline of both, seen from the point midway between them."""
    both = [(low - half, high + half) for (low, _), (_, high) in zip(first, second, strict=False)]
    both += [(low - half, high - half) for low, high in first[len(second) :]]
    both += [(low + half, high + half) for low, high in second[len(first) :]]
    return both
