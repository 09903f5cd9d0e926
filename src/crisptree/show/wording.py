"""A tree in words: its comparisons, its conditions and its actions, made safe to print.

Every format takes its phrases from here. A number is compared (`pole angle > 0.1`); a flag is
answered (`left leg contact: yes`); a category is named (`passenger is R or G`) or, where its values
have no names, counted (`row ≥ 3`). A comparison that means nothing for a flag or a category, such
as `flag > 7`, is written as it stands.
"""

import math
from typing import Literal

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp import Condition, CrispTree
from crisptree.crisp.signature import Feature
from crisptree.show.action_wording import ActionWording
from crisptree.show.rounding import exact, rounded_thresholds

AND = " and "
MOST_NAMES = 3
"""More categories than these are written as a range, or by naming those left out."""
LARGEST_WHOLE = 2**53


def check_tree(tree: object) -> None:
    """Refuses what is no tree, such as the path of one."""
    if not isinstance(tree, CrispTree):
        what = f"a CrispTree is shown, not {type(tree).__name__}"
        raise CrisptreeError(f"{what}; CrispTree.load(path) reads one from a file or a run")


class Wording:
    """The phrases of one tree; `minus` is the sign that negative numbers get."""

    def __init__(
        self, tree: CrispTree, decimals: int | None = None, minus: Literal["-", "−"] = "-"
    ) -> None:
        check_tree(tree)
        if decimals is not None and (type(decimals) is not int or not 0 <= decimals <= 17):
            raise CrisptreeError(f"decimals is {decimals!r}; it must lie in 0 … 17")
        self.features = tuple(printable(feature.name) for feature in tree.features)
        self.actions = ActionWording(tree, self.features, decimals, minus)
        self._tree = tree
        self._minus = minus
        self._thresholds = rounded_thresholds(tree, decimals)

    def threshold(self, feature: int, threshold: float) -> str:
        """A threshold, rounded for reading."""
        return self._thresholds[feature, threshold].replace("-", self._minus)

    def question(self, node: int) -> str:
        """What an inner node asks: `pole angle > 0.1`, `left leg contact?`, `row ≥ 3`."""
        feature, threshold, _, _ = self._tree.nodes[node]
        if self.is_flag(feature, threshold):
            return f"{self.features[feature]}?"
        return self.answer(node, True)

    def answer(self, node: int, is_true: bool) -> str:
        """What holds after an answer: `pole angle ≤ 0.1`, `left leg contact: no`, `row ≤ 2`."""
        feature, threshold, _, _ = self._tree.nodes[node]
        return self.condition(_half_line(feature, threshold, is_true))

    def test(self, node: int, is_true: bool) -> str:
        """The answer without the feature's name: `≤ 0.1`, `no`, `≤ 2`, `is R or G`."""
        feature, threshold, _, _ = self._tree.nodes[node]
        if self.is_flag(feature, threshold):
            return "yes" if is_true else "no"
        return self.answer(node, is_true).removeprefix(self.features[feature]).lstrip()

    def condition(self, condition: Condition) -> str:
        """`pole angle > 0.1`, `0.1 < pole angle ≤ 0.5`, `left leg contact: yes`, `row = 3`."""
        feature = self._tree.features[condition.feature]
        name = self.features[condition.feature]
        special = None
        if feature.kind == "flag":
            special = _flag(name, condition)
        elif feature.kind == "category":
            special = self._category(name, feature, condition)
        return self._numbers(name, condition) if special is None else special

    def conditions(self, conditions: tuple[Condition, ...]) -> str:
        """The conditions joined by “and”; empty where there are none."""
        return AND.join(map(self.condition, conditions))

    def value(self, feature: int, value: float) -> str:
        """A feature's value: `yes`, a category's name, or a number with every digit."""
        about = self._tree.features[feature]
        if about.kind == "flag" and value in (0, 1):
            return "yes" if value else "no"
        if about.kind == "category" and value == math.floor(value):
            place = int(value - (about.low or 0))
            if 0 <= place < len(about.categories):
                return printable(about.categories[place])
            return f"{value:.0f}".replace("-", self._minus)
        return exact(value).replace("-", self._minus)

    def is_flag(self, feature: int, threshold: float) -> bool:
        """Whether the comparison separates a flag's no from its yes."""
        return self._tree.features[feature].kind == "flag" and 0 <= threshold < 1

    def _numbers(self, name: str, condition: Condition) -> str:
        feature, above, at_most = condition
        if at_most == math.inf:
            return f"{name} > {self.threshold(feature, above)}"
        if above == -math.inf:
            return f"{name} ≤ {self.threshold(feature, at_most)}"
        return f"{self.threshold(feature, above)} < {name} ≤ {self.threshold(feature, at_most)}"

    def _category(self, name: str, feature: Feature, condition: Condition) -> str | None:
        """The whole numbers that meet the condition, by their names where they have some."""
        _, above, at_most = condition
        if any(abs(end) > LARGEST_WHOLE for end in (above, at_most) if math.isfinite(end)):
            return None
        least = None if above == -math.inf else math.floor(above) + 1
        most = None if at_most == math.inf else math.floor(at_most)
        if least is not None and most is not None and least > most:
            return None
        named = _named(name, feature, least, most)
        return self._whole(name, least, most) if named is None else named

    def _whole(self, name: str, least: int | None, most: int | None) -> str:
        low, high = (str(end).replace("-", self._minus) for end in (least, most))
        if least == most:
            return f"{name} = {low}"
        if most is None:
            return f"{name} ≥ {low}"
        return f"{name} ≤ {high}" if least is None else f"{low} ≤ {name} ≤ {high}"


class ExactWording(Wording):
    """The phrases with every digit of a threshold, for any tree with the same features."""

    def threshold(self, feature: int, threshold: float) -> str:
        """The shortest text that gives back the same number."""
        return exact(threshold).replace("-", self._minus)


def shortened(text: str, longest: int) -> str:
    """`text`, its end replaced by … where it is longer than `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def _half_line(feature: int, threshold: float, is_true: bool) -> Condition:
    return Condition(feature, above=threshold) if is_true else Condition(feature, at_most=threshold)


def _flag(name: str, condition: Condition) -> str | None:
    is_no, is_yes = (condition.above < value and value <= condition.at_most for value in (0.0, 1.0))
    return None if is_no == is_yes else f"{name}: {'yes' if is_yes else 'no'}"


def _named(name: str, feature: Feature, least: int | None, most: int | None) -> str | None:
    """`passenger is R or G`; None where the values have no names or the condition says nothing."""
    names = [printable(category) for category in feature.categories]
    first = int(feature.low or 0)
    start = 0 if least is None else max(least - first, 0)
    end = len(names) if most is None else max(most - first + 1, 0)
    inside, outside = names[start:end], names[:start] + names[end:]
    if not inside or not outside:
        return None
    if len(inside) <= min(len(outside), MOST_NAMES):
        return f"{name} is {_either(inside)}"
    if len(outside) == 1:
        return f"{name} is not {outside[0]}"
    if len(outside) == 2:
        return f"{name} is neither {outside[0]} nor {outside[1]}"
    if len(outside) <= MOST_NAMES:
        return f"{name} is none of {', '.join(outside)}"
    return f"{name} is one of {inside[0]} … {inside[-1]}"


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
