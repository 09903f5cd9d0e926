"""A tree as a JavaScript module (ECMAScript), for a browser or Node."""

import json

from crisptree.crisp import CrispTree
from crisptree.export.about import about
from crisptree.export.leaves import observed_names
from crisptree.export.nested_ifs import GIVES, Language, lines_of

JAVASCRIPT = Language(
    "  ",
    lambda comparison, answer: f"if ({comparison if answer else f'!({comparison})'}) {{",
    "return {};",
    " // ",
    end="}",
)
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
    return [
        f"/** {GIVES[tree.actions.kind]} for one observation: an array or a typed array. */",
        "export function act(x) {",
        *lines_of(tree, JAVASCRIPT),
        "}",
    ]


def _table(name: str, values: tuple[object, ...]) -> list[str]:
    return [f"export const {name} = [", *(f"  {json.dumps(value)}," for value in values), "];"]
