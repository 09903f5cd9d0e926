"""A branching tree drawn downwards or to the right."""

from crisptree.show.cards import HIGH, LOW, Cards
from crisptree.show.layout import parents_first, tidy

GAP = 16.0
BETWEEN_LEVELS = 52.0
FROM_LINE = 5.0
FROM_CARD = 9.0


def draw_downwards(cards: Cards) -> None:
    """The root on top, the TRUE side on the left."""
    nodes = cards.tree.nodes
    widths = [cards.box_width if row[0] >= 0 else cards.pill_width for row in nodes]
    centres = tidy(nodes, widths, GAP)
    for node, depth in parents_first(nodes):
        feature, _, if_true, if_false = nodes[node]
        top = depth * (HIGH + BETWEEN_LEVELS)
        x = centres[node]
        if feature < 0:
            cards.pill(node, x - widths[node] / 2, top)
            continue
        below, bottom = top + HIGH + BETWEEN_LEVELS, top + HIGH
        middle = (bottom + below) / 2
        for child, word, anchor, side in (
            (if_true, "yes", "end", -FROM_LINE),
            (if_false, "no", "start", FROM_LINE),
        ):
            to = centres[child]
            cards.canvas.curve((x, bottom), (x, middle), (to, middle), (to, below))
            cards.canvas.label(to + side, below - FROM_CARD, word, anchor)
        cards.box(node, x - widths[node] / 2, top)


def draw_rightwards(cards: Cards) -> None:
    """The root on the left, the TRUE side on top: words run along the branches."""
    nodes = cards.tree.nodes
    heights = [HIGH if row[0] >= 0 else LOW for row in nodes]
    centres = tidy(nodes, heights, GAP / 2)
    for node, depth in parents_first(nodes):
        feature, _, if_true, if_false = nodes[node]
        left = depth * (cards.box_width + BETWEEN_LEVELS)
        y = centres[node]
        if feature < 0:
            cards.pill(node, left, y - LOW / 2)
            continue
        right, beyond = left + cards.box_width, left + cards.box_width + BETWEEN_LEVELS
        middle = (right + beyond) / 2
        for child, word, side in ((if_true, "yes", -FROM_CARD), (if_false, "no", FROM_CARD)):
            to = centres[child]
            cards.canvas.curve((right, y), (middle, y), (middle, to), (beyond, to))
            cards.canvas.label(beyond - FROM_LINE, to + side, word, "end")
        cards.box(node, left, y - HIGH / 2)
