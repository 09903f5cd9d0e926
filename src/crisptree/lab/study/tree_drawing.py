"""A crisp tree as people see it: drawn as a tree or as a rule list."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree, Gain
from crisptree.lab.study.linear_mlp import States, minus
from crisptree.show import as_rules, as_text
from crisptree.show.rounding import rounded, rounded_thresholds
from crisptree.show.rule_list import RuleList, as_rule_list
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
HOW_TO_READ_A_FORMULA = (
    " Where the action is a formula, work it out with the numbers of the state; 3·x means 3 times "
    "x. A result outside the action's range is cut to the end of the range."
)


@dataclass(frozen=True)
class TreeDrawing:
    """A crisp tree, drawn as a tree or as a rule list."""

    tree: CrispTree
    kind: Literal["tree", "list"]

    def __post_init__(self) -> None:
        if len(self.tree.features) > self.tree.n_features:
            raise CrisptreeError(
                "the study shows policies that ask for single features; this one has derived ones"
            )

    @property
    def policy(self) -> CrispTree:
        return self.tree

    @cached_property
    def shown(self) -> CrispTree:
        """The tree with the numbers that stand in the drawing."""
        texts = rounded_thresholds(self.tree)
        thresholds = [
            float(texts[feature, threshold]) if feature >= 0 else 0.0
            for feature, threshold, _, _ in self.tree.nodes
        ]
        shown = replace(self.tree, threshold=np.array(thresholds))
        if self.tree.actions.kind != "box":
            return shown
        gains = tuple(
            tuple(gain._replace(weight=float(rounded(gain.weight))) for gain in node)
            for node in self.tree.gains
        )
        constants = [[float(rounded(value)) for value in row] for row in self.tree.action.tolist()]
        return replace(shown, action=np.array(constants), gains=gains)

    def places(self, states: States) -> Int[np.ndarray, " states"]:
        return self.shown.apply(states)

    def actions(self, states: States) -> np.ndarray:
        """The action of each state, as `CrispTree.act` gives them."""
        return self.shown.act(states)

    def is_clear(
        self, states: States, units: Float[np.ndarray, " features"]
    ) -> Bool[np.ndarray, " states"]:
        clear = np.ones(len(states), dtype=bool)
        rows = {0: np.arange(len(states))}
        for visit in self.shown.walk():
            here = rows.pop(visit.node)
            if not visit.is_leaf:
                over = states[here, visit.feature] - visit.threshold
                clear[here] &= np.abs(over) > 0.99 * units[visit.feature]
                rows |= {visit.if_true: here[over > 0], visit.if_false: here[over <= 0]}
        return clear

    def shown_state(self, state: tuple[str, ...]) -> tuple[str, ...]:
        """The numbers of a state as people read them: flags as yes or no, categories by name."""
        wording = Wording(self.shown, minus="−")
        return tuple(
            minus(text) if feature.kind == "number" else wording.value(at, float(text))
            for at, (feature, text) in enumerate(zip(self.shown.features, state, strict=True))
        )

    def worked(self, state: tuple[str, ...]) -> tuple[str, ...]:
        wording = Wording(self.shown, minus="−")
        observation, texts = [float(text) for text in state], self.shown_state(state)
        asked = {rule.node: rule.answer for rule in self._list.rules} if self._list else {}
        *path, leaf = self.shown.decision_path(np.array(observation))
        lines = []
        for node, following in pairwise((*path, leaf)):
            feature, _, if_true, _ = self.shown.nodes[node]
            answer = asked.get(node, True)
            question = f"{wording.answer(node, answer)}?"
            if self.shown.features[feature].kind == "number":
                question = f"Is it {wording.test(node, answer)}?"
            is_yes = (following == if_true) == answer
            said = f"{wording.features[feature]} is {texts[feature]}. {question}"
            lines.append(f"{said} {'Yes' if is_yes else 'No'}.")
        for dimension, name in enumerate(wording.actions.names):
            gains = [gain for gain in self.shown.gains[leaf] if gain.dimension == dimension]
            if gains:
                constant = float(self.shown.action[leaf, dimension])
                lines.append(f"{name} = {_sum(constant, gains, state)}.")
        return (*lines, f"So the policy takes: {wording.actions.at(leaf, observation)}.")

    def how_to_read(self) -> str:
        first = "topmost" if self.tree.n_leaves <= MOST_LEAVES_DOWNWARDS else "leftmost"
        text = HOW_TO_READ_A_LIST if self._list else HOW_TO_READ_A_TREE.format(first=first)
        return text + (HOW_TO_READ_A_FORMULA if self.tree.is_linear else "")

    def svg(self) -> str:
        if self._list is not None:
            return list_drawing(self.shown, self._list, "The policy")
        return tree_drawing(self.shown, "The policy")

    def text(self) -> str:
        return as_rules(self.shown) if self.kind == "list" else as_text(self.shown)

    @cached_property
    def _list(self) -> RuleList | None:
        return as_rule_list(self.shown) if self.kind == "list" else None


def _sum(constant: float, gains: Sequence[Gain], state: tuple[str, ...]) -> str:
    """A linear leaf's formula with its result: `1.2 − 3.1 × 0.35 = 0.115`."""
    terms, total = [f"{constant:g}"], constant
    for _, feature, weight in gains:
        number = f"({state[feature]})" if state[feature].startswith("-") else state[feature]
        terms.append(f"{'-' if weight < 0 else '+'} {abs(weight):g} × {number}")
        total += weight * float(state[feature])
    return minus(f"{' '.join(terms)} = {total:.4g}")
