"""A tree as a JavaScript module (ECMAScript), for a browser or Node."""

import json

from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.export.about import about
from crisptree.export.branches import If, statements
from crisptree.export.leaves import asked_text, in_words, leaf_texts, observed_names, sum_text

GIVES = {
    "discrete": "The number of the action",
    "multi_discrete": "The numbers of the choices, part by part,",
    "box": "The action, dimension by dimension,",
}
WITHIN = """
function within(value, low, high) {
  return value > low ? (value < high ? value : high) : low;
}
"""


def as_javascript(tree: CrispTree) -> str:
    """The text of a module that exports `act(x)`, `features` and `actions`.

    JavaScript's numbers are float64, so that what a Float32Array holds is compared exactly too.
    """
    lines = [
        *(f"// {line}" for line in about(tree)),
        "",
        *_table("features", observed_names(tree)),
        *_table("actions", tree.action_names),
    ]
    if tree.actions.choices:
        lines += _table("choices", tree.actions.choices)
    if tree.actions.start:
        lines.append(f"export const start = {list(tree.actions.start)};")
    text = "\n".join(lines) + "\n" + (WITHIN if tree.is_linear else "")
    return text + "\n" + "\n".join(_function(tree)) + "\n"


def _function(tree: CrispTree) -> list[str]:
    gives = GIVES[tree.actions.kind]
    lines = [
        f"/** {gives} for one observation: an array or a typed array. */",
        "export function act(x) {",
    ]
    leaves = leaf_texts(tree, repr, lambda leaf, at: _computed(tree, leaf, at))
    for statement in statements(tree):
        indent = "  " * (statement.level + 1)
        if isinstance(statement, If):
            feature, threshold, _, _ = tree.nodes[statement.node]
            asked = asked_text(tree, feature, repr, lambda at: f"x[{at}]")
            comparison = f"{asked} > {threshold!r}"
            condition = comparison if statement.answer else f"!({comparison})"
            name = printable(tree.feature_names[feature])
            lines.append(f"{indent}if ({condition}) {{ // {name}")
        else:
            leaf = statement.leaf
            row = leaves[leaf]
            value = row[0] if tree.actions.kind == "discrete" else f"[{', '.join(row)}]"
            lines.append(f"{indent}return {value}; // {in_words(tree, leaf)}")
            if statement.level:
                lines.append("  " * statement.level + "}")
    return [*lines, "}"]


def _computed(tree: CrispTree, leaf: int, dimension: int) -> str:
    value = sum_text(tree, leaf, dimension, repr, lambda feature: f"x[{feature}]")
    return f"within({value}, {tree.actions.low[dimension]!r}, {tree.actions.high[dimension]!r})"


def _table(name: str, values: tuple[object, ...]) -> list[str]:
    return [f"export const {name} = [", *(f"  {json.dumps(value)}," for value in values), "];"]
