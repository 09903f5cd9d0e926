"""A policy as a drawing: self-contained SVG, laid out here, for a page, a paper or a browser.

A small tree grows downwards; a larger one to the right, where the words of 32 leaves still find
room; a list is a column of rules, each with its action at its right. Thresholds are rounded for
reading; a pointer over a box shows the exact one, over a leaf its whole rule. With states, lines
are as wide as the share of the states that goes along them.
"""

from collections.abc import Callable, Mapping

from numpy.typing import NDArray

from crisptree.base.text import counted
from crisptree.crisp import CrispTree
from crisptree.crisp.walk import depths
from crisptree.show.action_styles import LegendEntry, LegendScale
from crisptree.show.headline import score_of, size_of, title_of
from crisptree.show.rule_list import RuleList, as_rule_list
from crisptree.show.svg_canvas import LARGE, LINE_WIDTH, SMALL, Canvas, Rectangle, text_width
from crisptree.show.svg_nodes import NodeBoxes
from crisptree.show.tidy_layout import tidy
from crisptree.show.visits import visit_counts

MOST_LEAVES_DOWNWARDS = 8
FEWEST_RULES_IN_A_COLUMN = 3
GAP = 16.0
BETWEEN_LEVELS = 52.0
BETWEEN_ROWS = 18.0
ARROW = 40.0
ARROW_GAP = 3.0
FROM_LINE = 5.0
FROM_BOX = 9.0
WIDEST_LINE = 10.0
LEAST_LEGEND = 320.0
SWATCH = Rectangle(0.0, 0.0, 14.0, 14.0)
SCALE_WIDTH = 132.0

LineWidth = Callable[[int], float]
"""The width of the line to a node."""


def as_svg(
    tree: CrispTree,
    *,
    decimals: int | None = None,
    states: NDArray | None = None,
    most_leaves: int | None = None,
) -> str:
    """The drawing as the text of an SVG file, with its title, score and legend.

    A tree of more than `most_leaves` is drawn down to the last level that has at most as many
    ends; a box that is one of them says how many leaves lie below it.
    """
    boxes = NodeBoxes(tree, decimals)
    listed = as_rule_list(tree)
    width = _line_width(tree, states)
    if listed is not None and len(listed.rules) >= FEWEST_RULES_IN_A_COLUMN:
        _draw_column(boxes, listed, width)
    elif tree.n_leaves <= MOST_LEAVES_DOWNWARDS:
        _draw_downwards(boxes, width)
    else:
        _draw_rightwards(boxes, width, folded_at(tree, most_leaves))
    _draw_legend(boxes.canvas, boxes.styles.legend(), _notes(boxes, states))
    about = [size_of(tree), score_of(tree.training)]
    _draw_heading(boxes.canvas, title_of(tree), about)
    return boxes.canvas.to_svg(f"{title_of(tree)}: {', '.join(filter(None, about))}")


def folded_at(tree: CrispTree, most: int | None) -> dict[int, int]:
    """Where a drawing of at most so many ends stops, and how many leaves lie below each place."""
    if most is None or tree.n_leaves <= most:
        return {}
    found = depths(tree.nodes)
    level = 0
    while sum(_is_end(tree, node, found[node], level + 1) for node in range(tree.n_nodes)) <= most:
        level += 1
    below = [0] * tree.n_nodes
    for node in reversed(tree.order):
        feature, _, if_true, if_false = tree.nodes[node]
        below[node] = 1 if feature < 0 else below[if_true] + below[if_false]
    inner = (node for node in range(tree.n_nodes) if tree.nodes[node][0] >= 0)
    return {node: below[node] for node in inner if found[node] == level}


def _is_end(tree: CrispTree, node: int, depth: int, level: int) -> bool:
    """Whether nothing is drawn below a node where the drawing stops at a level."""
    return depth == level or (depth < level and tree.nodes[node][0] < 0)


def tree_drawing(tree: CrispTree, title: str) -> str:
    """The tree alone, drawn as a tree, without heading and legend."""
    boxes = NodeBoxes(tree)
    if tree.n_leaves <= MOST_LEAVES_DOWNWARDS:
        _draw_downwards(boxes, lambda _: LINE_WIDTH)
    else:
        _draw_rightwards(boxes, lambda _: LINE_WIDTH, {})
    return boxes.canvas.to_svg(title)


def list_drawing(tree: CrispTree, listed: RuleList, title: str) -> str:
    """The list alone, without heading and legend."""
    boxes = NodeBoxes(tree)
    _draw_column(boxes, listed, lambda _: LINE_WIDTH)
    return boxes.canvas.to_svg(title)


def _draw_downwards(boxes: NodeBoxes, line_width: LineWidth) -> None:
    """The root on top, the TRUE side on the left."""
    tree, canvas = boxes.tree, boxes.canvas
    widths = [boxes.box_width if row[0] >= 0 else boxes.leaf_width for row in tree.nodes]
    centres = tidy(tree, widths, GAP)
    pitch = max(map(boxes.height, range(len(tree.nodes)))) + BETWEEN_LEVELS
    for visit in tree.walk():
        x, top = centres[visit.node], visit.depth * pitch
        left = x - widths[visit.node] / 2
        if visit.is_leaf:
            boxes.leaf(visit.node, left, top)
            continue
        bottom, below = top + boxes.height(visit.node), top + pitch
        middle = (bottom + below) / 2
        for child, word, anchor, side in (
            (visit.if_true, "yes", "end", -1),
            (visit.if_false, "no", "start", 1),
        ):
            to, width = centres[child], line_width(child)
            canvas.curve((x, bottom), (x, middle), (to, middle), (to, below), width=width)
            canvas.label(to + side * (FROM_LINE + width / 2), below - FROM_BOX, word, anchor)
        boxes.comparison(visit.node, left, top)


def _draw_rightwards(boxes: NodeBoxes, line_width: LineWidth, folded: Mapping[int, int]) -> None:
    """The root on the left, the TRUE side on top: words run along the branches.

    `folded` are the boxes below which nothing is drawn, with the leaves that lie there.
    """
    tree, canvas = boxes.tree, boxes.canvas
    heights = list(map(boxes.height, range(len(tree.nodes))))
    centres = tidy(tree, heights, GAP / 2, folded)
    pitch = max(boxes.box_width, boxes.leaf_width) + BETWEEN_LEVELS
    hidden: set[int] = set()
    for visit in tree.walk():
        if visit.parent in hidden or visit.parent in folded:
            hidden.add(visit.node)
            continue
        y, left = centres[visit.node], visit.depth * pitch
        top = y - heights[visit.node] / 2
        if visit.is_leaf:
            boxes.leaf(visit.node, left, top)
            continue
        right, beyond = left + boxes.box_width, left + pitch
        if visit.node in folded:
            boxes.comparison(visit.node, left, top)
            canvas.label(right + FROM_LINE, y, f"+ {folded[visit.node]} leaves")
            continue
        # Level until the column's end, so as not to run behind wider boxes of the same column.
        bend = max(right, beyond - BETWEEN_LEVELS)
        middle = (bend + beyond) / 2
        for child, word, side in ((visit.if_true, "yes", -1), (visit.if_false, "no", 1)):
            to, width = centres[child], line_width(child)
            if bend > right:
                canvas.line(right, y, bend, y, width)
            canvas.curve((bend, y), (middle, y), (middle, to), (beyond, to), width=width)
            canvas.label(beyond - FROM_LINE, to + side * (FROM_BOX + width / 2), word, "end")
        boxes.comparison(visit.node, left, top)


def _draw_column(boxes: NodeBoxes, listed: RuleList, line_width: LineWidth) -> None:
    """Down the column until a rule applies, then across to its action."""
    canvas, middle, right = boxes.canvas, boxes.row_width / 2, boxes.row_width
    following = [rule.node for rule in listed.rules[1:]] + [listed.otherwise]
    top = 0.0
    for at, (node, answer, leaf) in enumerate(listed.rules):
        height = boxes.leaf_height(leaf)
        level, bottom = top + height / 2, top + height
        canvas.label(-8.0, level, "else if" if at else "if", "end")
        boxes.row(node, 0.0, top, height, answer)
        end = bottom + BETWEEN_ROWS - ARROW_GAP
        canvas.arrow(middle, bottom + ARROW_GAP, middle, end, line_width(following[at]))
        _draw_action(boxes, leaf, right, top, level, line_width)
        top = bottom + BETWEEN_ROWS
    height = boxes.leaf_height(listed.otherwise)
    boxes.otherwise(0.0, top, height)
    _draw_action(boxes, listed.otherwise, right, top, top + height / 2, line_width)


def _draw_action(
    boxes: NodeBoxes, leaf: int, right: float, top: float, level: float, line_width: LineWidth
) -> None:
    start, end = right + ARROW_GAP, right + ARROW - ARROW_GAP
    boxes.canvas.arrow(start, level, end, level, line_width(leaf))
    boxes.leaf(leaf, right + ARROW, top)


def _line_width(tree: CrispTree, states: NDArray | None) -> LineWidth:
    """The widths of lines: all alike or, with states, by the share of states that reach the
    node."""
    if states is None or not len(states):
        return lambda _: LINE_WIDTH
    counts = visit_counts(tree, states)
    return lambda node: LINE_WIDTH + (WIDEST_LINE - LINE_WIDTH) * float(counts[node] / counts[0])


def _draw_heading(canvas: Canvas, title: str, about: list[str]) -> None:
    left, bottom = canvas.left, canvas.top - GAP
    text = " · ".join(filter(None, about))
    canvas.label(left, bottom - SMALL / 2, text)
    canvas.label(left, bottom - SMALL - 8 - LARGE / 2, title, size=LARGE)


def _notes(boxes: NodeBoxes, states: NDArray | None) -> list[str]:
    """The notes of the legend besides colours."""
    notes = [boxes.wording.actions.bounds_note()]
    if states is not None and len(states):
        said = counted(len(states), "state")
        notes.append(f"the wider a line, the more of {said} go along it")
    return list(filter(None, notes))


def _draw_legend(
    canvas: Canvas, entries: list[LegendEntry | LegendScale], notes: list[str]
) -> None:
    """Draw the legend below the drawing, in as many rows as the width needs."""
    left, right = canvas.left, max(canvas.right, canvas.left + LEAST_LEGEND)
    x, y = left, canvas.bottom + 2 * GAP
    for entry in entries:
        width = _legend_width(entry)
        if x > left and x + width > right:
            x, y = left, y + 22
        _draw_entry(canvas, entry, x, y)
        x += width + GAP
    for note in notes:
        y += 20
        canvas.label(left, y, note)


def _legend_width(entry: LegendEntry | LegendScale) -> float:
    if isinstance(entry, LegendEntry):
        return SWATCH.width + 6 + text_width(entry.label, SMALL)
    words = (entry.label, entry.low, entry.high)
    return SCALE_WIDTH + sum(text_width(word, SMALL) + 6 for word in words)


def _draw_entry(canvas: Canvas, entry: LegendEntry | LegendScale, x: float, y: float) -> None:
    if isinstance(entry, LegendEntry):
        at = Rectangle(x, y - SWATCH.height / 2, SWATCH.width, SWATCH.height)
        canvas.box(at, entry.style, radius=3.0)
        canvas.label(x + SWATCH.width + 6, y, entry.label)
        return
    canvas.label(x, y, entry.label)
    x += text_width(entry.label, SMALL) + 6
    canvas.label(x, y, entry.low)
    x += text_width(entry.low, SMALL) + 6
    canvas.gradient(Rectangle(x, y - 6, SCALE_WIDTH, 12.0), entry.colours)
    canvas.label(x + SCALE_WIDTH + 6, y, entry.high)
