"""A tree as a JavaScript module (ECMAScript), for a browser or Node."""

import json

from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.export.branches import If, statements
from crisptree.export.origin import about


def as_javascript(tree: CrispTree) -> str:
    """The text of a module that exports `act(x)`, `features` and `actions`.

    JavaScript's numbers are float64, so that what a Float32Array holds is compared exactly too.
    """
    lines = [
        *(f"// {line}" for line in about(tree)),
        "",
        *_table("features", tree.feature_names),
        *_table("actions", tree.action_names),
        "",
        "/** The number of the action for one observation: an array or a typed array. */",
        "export function act(x) {",
    ]
    for statement in statements(tree):
        indent = "  " * (statement.level + 1)
        if isinstance(statement, If):
            feature, threshold, _, _ = tree.nodes[statement.node]
            comparison = f"x[{feature}] > {threshold!r}"
            condition = comparison if statement.answer else f"!({comparison})"
            name = printable(tree.feature_names[feature])
            lines.append(f"{indent}if ({condition}) {{ // {name}")
        else:
            action = int(tree.action[statement.leaf])
            name = printable(tree.action_names[action])
            lines.append(f"{indent}return {action}; // {name}")
            if statement.level:
                lines.append("  " * statement.level + "}")
    return "\n".join([*lines, "}"]) + "\n"


def _table(name: str, values: tuple[str, ...]) -> list[str]:
    return [f"export const {name} = [", *(f"  {json.dumps(value)}," for value in values), "];"]
