"""A list drawn as a column of rules, the action of each beside it."""

from crisptree.show.cards import LOW, Cards
from crisptree.show.chain import Chain

BETWEEN_ROWS = 18.0
ARROW = 40.0
GAP = 3.0


def draw_column(cards: Cards, chain: Chain) -> None:
    """Down the column until a rule applies, then across to its action."""
    canvas, middle, right = cards.canvas, cards.row_width / 2, cards.row_width
    rows = [leaf for _, _, leaf in chain.links] + [chain.otherwise]
    for at, leaf in enumerate(rows):
        top = at * (LOW + BETWEEN_ROWS)
        level, bottom = top + LOW / 2, top + LOW
        if leaf == chain.otherwise:
            cards.otherwise(0.0, top)
        else:
            node, answer, _ = chain.links[at]
            canvas.label(-8.0, level, "else if" if at else "if", "end")
            cards.row(node, 0.0, top, answer)
            canvas.arrow(middle, bottom + GAP, middle, bottom + BETWEEN_ROWS - GAP)
        canvas.arrow(right + GAP, level, right + ARROW - GAP, level)
        cards.pill(leaf, right + ARROW, top)
