"""A policy as a drawing: self-contained SVG, laid out here, for a page, a paper or a browser.

A small tree grows downwards; a larger one to the right, where the words of 32 leaves still find
room; a list is a column of rules with their actions beside them. Thresholds are rounded for
reading; a pointer over a box shows the exact one, over a leaf its whole rule.
"""

from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.show.cards import Cards
from crisptree.show.chain import as_chain
from crisptree.show.svg_list import draw_column
from crisptree.show.svg_tree import draw_downwards, draw_rightwards

MOST_LEAVES_DOWNWARDS = 8
FEWEST_RULES_IN_A_COLUMN = 3


def as_svg(tree: CrispTree, *, decimals: int | None = None) -> str:
    """The drawing as the text of an SVG file."""
    cards = Cards(tree, decimals)
    chain = as_chain(tree)
    if chain is not None and len(chain.links) >= FEWEST_RULES_IN_A_COLUMN:
        draw_column(cards, chain)
    elif tree.n_leaves <= MOST_LEAVES_DOWNWARDS:
        draw_downwards(cards)
    else:
        draw_rightwards(cards)
    leaves = f"{tree.n_leaves} {'leaf' if tree.n_leaves == 1 else 'leaves'}"
    kind = "rule list" if tree.is_rule_list else "tree"
    return cards.canvas.drawn(f"{printable(tree.env_id or 'Policy')}: {kind}, {leaves}")
