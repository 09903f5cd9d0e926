"""The actions of a tree's leaves in words, for every kind of action.

discrete: `push left`. multi_discrete: `steer left, brake on`. box: `torque = 1.2`, and for a
linear leaf `torque = 1.2 - 3.1·angular velocity, between -2 and 2`.
"""

from collections.abc import Sequence

import numpy as np

from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.show.rounding import rounded

LONGEST_LINE = 34
"""Characters of a formula in a drawing's box before it continues on the next line."""


class ActionWording:
    """The actions of one tree; `features` are its features' printable names."""

    def __init__(
        self, tree: CrispTree, features: tuple[str, ...], decimals: int | None, minus: str
    ) -> None:
        self.names = tuple(map(printable, tree.actions.names))
        """The names of the actions, of the parts or of the dimensions."""
        self._features = features
        self._decimals = decimals
        self._minus = minus
        self._tree = tree
        self._choices = [tuple(map(printable, part)) for part in tree.actions.choices]

    def of(self, leaf: int) -> str:
        """The whole action of a leaf."""
        if self._tree.actions.kind != "box":
            return ", ".join(self._chosen(leaf))
        formulas = []
        for dimension in range(len(self.names)):
            formula = " ".join(self._terms(leaf, dimension))
            is_linear = self.value(leaf, dimension) is None
            formulas.append(f"{formula}, {self.bounds(dimension)}" if is_linear else formula)
        return ("; " if self._tree.gains[leaf] else ", ").join(formulas)

    def at(self, leaf: int, observation: Sequence[float]) -> str:
        """The action of a leaf for one observation: a linear leaf's numbers."""
        if not self._tree.gains[leaf]:
            return self.of(leaf)
        values = self._tree.act(np.array([observation], np.float64))[0].tolist()
        pairs = zip(self.names, values, strict=True)
        return ", ".join(f"{name} = {self.number(value)}" for name, value in pairs)

    def lines(self, leaf: int) -> tuple[tuple[str, ...], ...]:
        """The action of a leaf for a box in a drawing: for each part its lines, one or, for a long
        formula, several. Bounds are left out; the drawing's legend has them."""
        if self._tree.actions.kind != "box":
            return tuple((chosen,) for chosen in self._chosen(leaf))
        dimensions = range(len(self.names))
        return tuple(_wrapped(self._terms(leaf, dimension)) for dimension in dimensions)

    def bounds(self, dimension: int) -> str:
        """`between -2 and 2`: where a dimension of a box lies."""
        low, high = self._tree.actions.low[dimension], self._tree.actions.high[dimension]
        return f"between {self.number(low)} and {self.number(high)}"

    def bounds_note(self) -> str:
        """What a legend that shows the bounds says about them; nothing without formulas."""
        return "what a formula gives is kept within these bounds" if self._tree.is_linear else ""

    def value(self, leaf: int, dimension: int) -> float | None:
        """The number that a box's leaf gives to a dimension; None where features decide it."""
        if any(gain.dimension == dimension for gain in self._tree.gains[leaf]):
            return None
        return float(self._tree.action[leaf][dimension])

    def number(self, value: float) -> str:
        """A number, rounded for reading."""
        return rounded(value, self._decimals).replace("-", self._minus)

    def _chosen(self, leaf: int) -> tuple[str, ...]:
        action = self._tree.action[leaf].tolist()
        if self._tree.actions.kind == "discrete":
            return (self.names[action],)
        return tuple(
            f"{name} {choices[choice]}"
            for name, choices, choice in zip(self.names, self._choices, action, strict=True)
        )

    def _terms(self, leaf: int, dimension: int) -> list[str]:
        """`torque = 1.2` and, of a linear leaf, `- 3.1·angular velocity` …"""
        start = f"{self.names[dimension]} ="
        value = self.value(leaf, dimension)
        if value is not None:
            return [f"{start} {self.number(value)}"]
        constant = float(self._tree.action[leaf][dimension])
        terms = [self.number(constant)] if constant else []
        for gain in self._tree.gains[leaf]:
            if gain.dimension == dimension:
                product = f"{self.number(abs(gain.weight))}·{self._features[gain.feature]}"
                sign = self._minus if gain.weight < 0 else "+" if terms else ""
                terms.append(f"{sign} {product}" if terms else f"{sign}{product}")
        return [f"{start} {terms[0]}", *terms[1:]]


def _wrapped(terms: list[str]) -> tuple[str, ...]:
    """The terms in as few lines as fit."""
    lines = terms[:1]
    for term in terms[1:]:
        if len(lines[-1]) + 1 + len(term) > LONGEST_LINE:
            lines.append(term)
        else:
            lines[-1] += f" {term}"
    return tuple(lines)
