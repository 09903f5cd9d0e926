"""A crisp tree as an aid: drawn as a tree or as a rule list."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float, Int

from crisptree.crisp import CrispTree
from crisptree.lab.study.aid import Kind, States, minus
from crisptree.show import as_rules, as_text
from crisptree.show.rounding import rounded_thresholds
from crisptree.show.rule_list import ListedRule, RuleList, as_rule_list
from crisptree.show.svg import MOST_LEAVES_DOWNWARDS, list_drawing, tree_drawing
from crisptree.show.wording import Wording

HOW_TO_READ_A_TREE = (
    "Start at the {first} box. Each box compares one number of the state with a fixed number. If "
    "the comparison is true, follow the line marked “yes”, otherwise the one marked “no”, until "
    "you come to an action. That is the action the policy takes."
)
HOW_TO_READ_A_LIST = (
    "Read the rules from top to bottom. The first one whose comparison is true decides: the policy "
    "takes the action beside it. If none is true, the policy takes the action beside “otherwise”."
)


@dataclass(frozen=True)
class TreeAid:
    """A crisp tree, drawn as a tree or as a rule list."""

    tree: CrispTree
    kind: Kind

    @property
    def policy(self) -> CrispTree:
        return self.tree

    @cached_property
    def shown(self) -> CrispTree:
        """The tree with the thresholds that stand in the drawing."""
        rounded = rounded_thresholds(self.tree)
        thresholds = [
            float(rounded[feature, threshold]) if feature >= 0 else 0.0
            for feature, threshold, _, _ in self.tree.nodes
        ]
        return replace(self.tree, threshold=np.array(thresholds))

    def places(self, states: States) -> Int[np.ndarray, " states"]:
        return self.shown.apply(states)

    def actions(self, states: States) -> Int[np.ndarray, " states"]:
        return self.shown.predict(states)[0]

    def is_clear(
        self, states: States, units: Float[np.ndarray, " features"]
    ) -> Bool[np.ndarray, " states"]:
        clear = np.ones(len(states), dtype=bool)
        waiting = [(0, np.arange(len(states)))]
        while waiting:
            node, rows = waiting.pop()
            feature, threshold, if_true, if_false = self.shown.nodes[node]
            if feature >= 0:
                over = states[rows, feature] - threshold
                clear[rows] &= np.abs(over) > 0.99 * units[feature]
                waiting += [(if_true, rows[over > 0]), (if_false, rows[over <= 0])]
        return clear

    def worked(self, shown: tuple[str, ...]) -> tuple[str, ...]:
        wording = Wording(self.shown, minus="−")
        answers = {rule.node: rule.answer for rule in self._listed_rules}
        path = self.shown.decision_path(np.array([float(text) for text in shown]))
        lines = []
        for node, following in pairwise(path):
            feature, threshold, if_true, _ = self.shown.nodes[node]
            asked = answers.get(node, True)
            number = wording.threshold(feature, threshold)
            lines.append(
                f"{wording.features[feature]} is {minus(shown[feature])}. "
                f"Is it {'>' if asked else '≤'} {number}? "
                f"{'Yes' if (following == if_true) == asked else 'No'}."
            )
        action = wording.actions.of(path[-1])
        return (*lines, f"So the policy takes: {action}.")

    def how_to_read(self) -> str:
        if self._list is not None:
            return HOW_TO_READ_A_LIST
        return HOW_TO_READ_A_TREE.format(first="topmost" if self._grows_down else "leftmost")

    def drawing(self) -> str:
        if self._list is not None:
            return list_drawing(self.shown, self._list, "The policy")
        return tree_drawing(self.shown, "The policy")

    def spoken(self) -> str:
        return as_rules(self.shown) if self.kind == "list" else as_text(self.shown)

    @property
    def _grows_down(self) -> bool:
        return self.tree.n_leaves <= MOST_LEAVES_DOWNWARDS

    @cached_property
    def _list(self) -> RuleList | None:
        return as_rule_list(self.shown) if self.kind == "list" else None

    @property
    def _listed_rules(self) -> tuple[ListedRule, ...]:
        return self._list.rules if self._list else ()
