"""The small phrases every way out shares: names made printable, comparisons, rules."""

import math

from crisptree.base.text import printable
from crisptree.crisp import Condition, CrispTree
from crisptree.show.numbers import Numbers

AND = " and "


class Words:
    """How one tree speaks: its names and its thresholds rounded for reading."""

    def __init__(self, tree: CrispTree, decimals: int | None = None) -> None:
        self.features = tuple(map(printable, tree.feature_names))
        self.actions = tuple(map(printable, tree.action_names))
        self.numbers = Numbers(tree, decimals)

    def comparison(self, feature: int, threshold: float, answer: bool = True) -> str:
        """`pole angle > 0.1`, or for the answer FALSE `pole angle ≤ 0.1`."""
        sign = ">" if answer else "≤"
        return f"{self.features[feature]} {sign} {self.numbers.of(feature, threshold)}"

    def condition(self, condition: Condition) -> str:
        """`pole angle > 0.1`, `pole angle ≤ 0.5`, or `0.1 < pole angle ≤ 0.5`."""
        feature, above, at_most = condition
        if above == -math.inf:
            return self.comparison(feature, at_most, answer=False)
        if at_most == math.inf:
            return self.comparison(feature, above)
        low, high = self.numbers.of(feature, above), self.numbers.of(feature, at_most)
        return f"{low} < {self.features[feature]} ≤ {high}"

    def conditions(self, conditions: tuple[Condition, ...]) -> str:
        return AND.join(map(self.condition, conditions))


def shortened(text: str, longest: int) -> str:
    """`text`, its end replaced by … where it is longer than `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
