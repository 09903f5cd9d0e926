"""What the boxes of one tree's drawing say and how large they are."""

from crisptree.crisp import CrispTree
from crisptree.show.canvas import PAPER, SIZE, Canvas, Text, colour_of, text_width
from crisptree.show.numbers import exact
from crisptree.show.words import Words, shortened

LONGEST_NAME = 28
PADDING = 12.0
LINE = 1.3 * SIZE
LOW, HIGH = 28.0, 44.0
CORNER = 6.0


class Cards:
    """Boxes for comparisons, pills for actions; all boxes of a tree alike in size, all pills too.

    Names longer than 28 characters are cut short; the tooltip has the whole name, the exact
    threshold and, for a leaf, its rule.
    """

    def __init__(self, tree: CrispTree, decimals: int | None = None) -> None:
        self.tree = tree
        self.canvas = Canvas()
        self._words = Words(tree, decimals)
        self._features = [shortened(name, LONGEST_NAME) for name in self._words.features]
        self._actions = [shortened(name, LONGEST_NAME) for name in self._words.actions]
        self._rule = {rule.leaf: self._words.conditions(rule.conditions) for rule in tree.rules()}
        inner = [node for node, row in enumerate(tree.nodes) if row[0] >= 0]
        names = [text_width(self._features[tree.nodes[node][0]], SIZE) for node in inner]
        thresholds = [text_width(self._against(node), SIZE, bold=True) for node in inner]
        actions = [text_width(self._actions[tree.action[leaf]], SIZE) for leaf in self._rule]
        self.box_width = max(names + thresholds, default=0.0) + 2 * PADDING
        self.row_width = max(names, default=0.0) + max(thresholds, default=0.0) + 4 * PADDING
        self.pill_width = max(actions) + 2 * PADDING

    def box(self, node: int, x: float, y: float) -> None:
        """A comparison on two lines, as wide as `box_width`."""
        feature = self.tree.nodes[node][0]
        middle, height = x + self.box_width / 2, y + HIGH / 2
        texts = [
            Text(middle, height - LINE / 2, self._features[feature]),
            Text(middle, height + LINE / 2, self._against(node), bold=True),
        ]
        self._comparison(node, x, y, self.box_width, HIGH, texts)

    def row(self, node: int, x: float, y: float, answer: bool) -> None:
        """A condition on one line, as wide as `row_width`: it holds if the node gives `answer`."""
        feature = self.tree.nodes[node][0]
        right, height = x + self.row_width - PADDING, y + LOW / 2
        texts = [
            Text(x + PADDING, height, self._features[feature], "start"),
            Text(right, height, self._against(node, answer), "end", bold=True),
        ]
        self._comparison(node, x, y, self.row_width, LOW, texts)

    def otherwise(self, x: float, y: float) -> None:
        """The row where no condition held."""
        self.canvas.card(
            x,
            y,
            self.row_width,
            LOW,
            radius=CORNER,
            fill=PAPER,
            texts=[Text(x + PADDING, y + LOW / 2, "otherwise", "start")],
            tooltip="none of the rules above",
        )

    def pill(self, leaf: int, x: float, y: float) -> None:
        """An action, its name on its colour."""
        action = int(self.tree.action[leaf])
        rule = self._rule[leaf]
        self.canvas.card(
            x,
            y,
            self.pill_width,
            LOW,
            radius=LOW / 2,
            fill=colour_of(action),
            texts=[Text(x + self.pill_width / 2, y + LOW / 2, self._actions[action])],
            tooltip=f"{self._words.actions[action]} {'if ' + rule if rule else 'always'}",
        )

    def _comparison(
        self, node: int, x: float, y: float, width: float, height: float, texts: list[Text]
    ) -> None:
        feature, threshold, _, _ = self.tree.nodes[node]
        self.canvas.card(
            x,
            y,
            width,
            height,
            radius=CORNER,
            fill=PAPER,
            texts=texts,
            tooltip=f"{self._words.features[feature]} > {exact(threshold)}",
        )

    def _against(self, node: int, answer: bool = True) -> str:
        feature, threshold, _, _ = self.tree.nodes[node]
        number = self._words.numbers.of(feature, threshold).replace("-", "−")
        return f"{'>' if answer else '≤'} {number}"
