"""The boxes of one tree's drawing: their text, size and style."""

import re

from crisptree.crisp import CrispTree
from crisptree.show.action_styles import ActionStyles
from crisptree.show.palette import NEUTRAL
from crisptree.show.rounding import exact
from crisptree.show.svg_canvas import SIZE, Canvas, Rectangle, TextLine, text_width
from crisptree.show.wording import Wording, shortened

LONGEST_TEXT = 40
LONGEST_NAME = 28
LONGEST_SUM = 72
"""Longest name of a derived feature, which says what is summed."""
PADDING = 12.0
LINE = 1.3 * SIZE
ROW_HEIGHT = 28.0
BOX_HEIGHT = 44.0
CORNER = 6.0
SWATCH = 9.0


class NodeBoxes:
    """Boxes for comparisons and for actions; all boxes of a kind are alike in width.

    Names longer than 28 characters (72 for a sum) are cut short, and a long sum has a line for each
    term; the tooltip has the whole name, the exact threshold and, for a leaf, its rule.
    """

    def __init__(self, tree: CrispTree, decimals: int | None = None) -> None:
        self.tree = tree
        self.canvas = Canvas()
        self.wording = Wording(tree, decimals, minus="−")
        self.styles = ActionStyles(tree, self.wording)
        self._features = [
            shortened(name, LONGEST_SUM if feature.terms else LONGEST_NAME)
            for name, feature in zip(self.wording.features, tree.features, strict=True)
        ]
        self._conditions = {
            leaf.node: self.wording.conditions(tuple(leaf.conditions.values()))
            for leaf in tree.leaves()
        }
        self._lines = {leaf: self._leaf_lines(leaf) for leaf in self._conditions}
        inner = [node for node, row in enumerate(tree.nodes) if row[0] >= 0]
        names = [text_width(self._features[tree.nodes[node][0]], SIZE) for node in inner]
        lines = [text_width(line, SIZE) for node in inner for line in self._name_lines(node)]
        tests = [text_width(self._question(node), SIZE, bold=True) for node in inner]
        answers = [
            text_width(self._answer(node, answer), SIZE, bold=True)
            for node in inner
            for answer in (True, False)
        ]
        actions = [text_width(text, SIZE) for lines in self._lines.values() for text, _ in lines]
        self._swatch = 0.0 if len(self.styles.scales) < 2 else SWATCH + 6
        self.box_width = max(lines + tests, default=0.0) + 2 * PADDING
        self.row_width = max(names, default=0.0) + max(answers, default=0.0) + 4 * PADDING
        self.leaf_width = max(actions) + 2 * PADDING + self._swatch

    def leaf_height(self, leaf: int) -> float:
        """How high a leaf's box is: one line or several."""
        return ROW_HEIGHT + (len(self._lines[leaf]) - 1) * LINE

    def height(self, node: int) -> float:
        """How high the box of a node is, be it a comparison or a leaf."""
        if self.tree.nodes[node][0] < 0:
            return self.leaf_height(node)
        return BOX_HEIGHT + (len(self._name_lines(node)) - 1) * LINE

    def comparison(self, node: int, x: float, y: float) -> None:
        """A comparison, its feature above its threshold, as wide as `box_width`."""
        middle, first = x + self.box_width / 2, y + BOX_HEIGHT / 2 - LINE / 2
        names = self._name_lines(node)
        lines = [TextLine(middle, first + at * LINE, name) for at, name in enumerate(names)]
        last = first + len(names) * LINE
        lines.append(TextLine(middle, last, self._question(node), bold=True))
        at = Rectangle(x, y, self.box_width, self.height(node))
        self.canvas.box(at, NEUTRAL, lines, radius=CORNER, tooltip=self._exact(node))

    def row(self, node: int, x: float, y: float, height: float, answer: bool) -> None:
        """A condition on one line, as wide as `row_width`: what holds if the node gives
        `answer`."""
        right, middle = x + self.row_width - PADDING, y + height / 2
        name = self._features[self.tree.nodes[node][0]]
        lines = [
            TextLine(x + PADDING, middle, name, "start"),
            TextLine(right, middle, self._answer(node, answer), "end", bold=True),
        ]
        at = Rectangle(x, y, self.row_width, height)
        self.canvas.box(at, NEUTRAL, lines, radius=CORNER, tooltip=self._exact(node))

    def otherwise(self, x: float, y: float, height: float) -> None:
        """The row where no condition held."""
        lines = [TextLine(x + PADDING, y + height / 2, "otherwise", "start")]
        at = Rectangle(x, y, self.row_width, height)
        self.canvas.box(at, NEUTRAL, lines, radius=CORNER, tooltip="none of the rules above")

    def leaf(self, leaf: int, x: float, y: float) -> None:
        """An action on its colour; several numbers have a swatch each."""
        lines, swatches = [], []
        middle = x + self.leaf_width / 2
        for at, (text, swatch) in enumerate(self._lines[leaf]):
            height = y + ROW_HEIGHT / 2 + at * LINE
            if self._swatch:
                lines.append(TextLine(x + PADDING + self._swatch, height, text, "start"))
                if swatch is not None:
                    square = Rectangle(x + PADDING, height - SWATCH / 2, SWATCH, SWATCH)
                    swatches.append((square, swatch))
            else:
                lines.append(TextLine(middle, height, text))
        when = f"if {self._conditions[leaf]}" if self._conditions[leaf] else "always"
        radius = ROW_HEIGHT / 2 if len(lines) == 1 else 2 * CORNER
        self.canvas.box(
            Rectangle(x, y, self.leaf_width, self.leaf_height(leaf)),
            self.styles.of(leaf),
            lines,
            radius=radius,
            tooltip=f"{self.wording.actions.of(leaf)} {when}",
            swatches=swatches,
        )

    def _leaf_lines(self, leaf: int) -> list[tuple[str, str | None]]:
        """Each line with the colour of its swatch, where it has one."""
        parts = self.wording.actions.lines(leaf)
        swatches = self.styles.swatches(leaf) or (None,) * len(parts)
        longest = LONGEST_NAME if self.tree.actions.kind == "discrete" else LONGEST_TEXT
        return [
            (shortened(text, longest), None if at else swatch)
            for part, swatch in zip(parts, swatches, strict=True)
            for at, text in enumerate(part)
        ]

    def _name_lines(self, node: int) -> list[str]:
        """The feature's name: one line, or one for each term of a long sum."""
        feature = self.tree.nodes[node][0]
        name = self._features[feature]
        if not self.tree.features[feature].terms or len(name) <= LONGEST_NAME:
            return [name]
        return re.split(r" (?=[+−-] )", name)

    def _question(self, node: int) -> str:
        feature, threshold, _, _ = self.tree.nodes[node]
        test = shortened(self.wording.test(node, True), LONGEST_TEXT)
        return f"{test}?" if self.wording.is_flag(feature, threshold) else test

    def _answer(self, node: int, answer: bool) -> str:
        return shortened(self.wording.test(node, answer), LONGEST_TEXT)

    def _exact(self, node: int) -> str:
        feature, threshold, _, _ = self.tree.nodes[node]
        return f"{self.wording.features[feature]} > {exact(threshold)}"
