"""A tree as nested ifs over `x[…]`: what Python, JavaScript and Rust have in common."""

from collections.abc import Callable
from dataclasses import dataclass

from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.export.branches import If, statements
from crisptree.export.leaves import asked_text, in_words, leaf_texts, sum_text

GIVES = {
    "discrete": "The number of the action",
    "multi_discrete": "The numbers of the choices, part by part,",
    "box": "The action, dimension by dimension,",
}
"""What a function returns, by the kind of action."""


@dataclass(frozen=True)
class Language:
    """The syntax of a language."""

    indent: str
    when: Callable[[str, bool], str]
    """The line that asks, from a comparison and the answer that it needs."""
    returned: str
    """A line that returns `{}`."""
    comment: str
    vector: str = "[{}]"
    """Several numbers, from what stands between commas."""
    last: str | None = None
    """The line that returns at the end of the function, if it differs from `returned`."""
    end: str = ""
    """The line that ends a block."""
    within: str = "within"
    """The function that brings a number into its bounds."""

    def value(self, row: list[str]) -> str:
        """An action of several numbers."""
        return self.vector.format(", ".join(row))


def lines_of(tree: CrispTree, language: Language) -> list[str]:
    """The body of a function from `x` to the action, each question and leaf in words behind it."""
    lines = []
    leaves = leaf_texts(tree, repr, lambda leaf, at: _bounded(tree, leaf, at, language.within))
    for statement in statements(tree):
        outer = language.indent * statement.level
        if isinstance(statement, If):
            feature, threshold, _, _ = tree.nodes[statement.node]
            comparison = f"{asked_text(tree, feature, repr, _element)} > {threshold!r}"
            text = language.when(comparison, statement.answer)
            words = printable(tree.feature_names[feature])
        else:
            row = leaves[statement.leaf]
            value = row[0] if tree.actions.kind == "discrete" else language.value(row)
            line = language.returned if statement.level else language.last or language.returned
            text = line.format(value)
            words = in_words(tree, statement.leaf)
        lines.append(f"{outer}{language.indent}{text}{language.comment}{words}")
        if not isinstance(statement, If) and statement.level and language.end:
            lines.append(f"{outer}{language.end}")
    return lines


def _element(at: int) -> str:
    return f"x[{at}]"


def _bounded(tree: CrispTree, leaf: int, dimension: int, within: str) -> str:
    value = sum_text(tree, leaf, dimension, repr, _element)
    return f"{within}({value}, {tree.actions.low[dimension]!r}, {tree.actions.high[dimension]!r})"
