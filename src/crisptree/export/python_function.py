"""A tree as a Python function that needs nothing but Python."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

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
WITHIN = """\
def _within(value, low, high):
    return (value if value < high else high) if value > low else low


"""


def as_python(tree: CrispTree) -> str:
    """The text of a module with `act(x)`, `FEATURES` and `ACTIONS`.

    Thresholds are written with the digits that give back the same float64. An array is turned
    into a list first: NumPy would compare a float32 with the threshold rounded to float32, and a
    list is quicker to look into besides.
    """
    lines = [
        *(f"# {line}" for line in about(tree)),
        "",
        *_table("FEATURES", observed_names(tree)),
        *_table("ACTIONS", tree.action_names),
    ]
    if tree.actions.choices:
        lines += _table("CHOICES", tree.actions.choices)
    if tree.actions.start:
        lines.append(f"START = {tree.actions.start!r}  # what the environment's numbers begin with")
    head = "\n".join(lines) + "\n\n\n" + (WITHIN if tree.is_linear else "")
    return head + "\n".join(_function(tree)) + "\n"


def _function(tree: CrispTree) -> list[str]:
    gives = GIVES[tree.actions.kind]
    lines = [
        "def act(x):",
        f'    """{gives} for one observation: a list, a tuple or an array."""',
        "    if type(x) is not list and type(x) is not tuple:",
        "        x = x.tolist()",
    ]
    leaves = leaf_texts(tree, repr, lambda leaf, at: _computed(tree, leaf, at))
    for statement in statements(tree):
        indent = "    " * (statement.level + 1)
        if isinstance(statement, If):
            feature, threshold, _, _ = tree.nodes[statement.node]
            comparison = f"{_asked(tree, feature)} > {threshold!r}"
            condition = comparison if statement.answer else f"not {comparison}"
            lines.append(f"{indent}if {condition}:  # {printable(tree.feature_names[feature])}")
        else:
            leaf = statement.leaf
            row = leaves[leaf]
            value = row[0] if tree.actions.kind == "discrete" else f"({', '.join(row)},)"
            lines.append(f"{indent}return {value}  # {in_words(tree, leaf)}")
    return lines


def _asked(tree: CrispTree, feature: int) -> str:
    return asked_text(tree, feature, repr, lambda at: f"x[{at}]")


def _computed(tree: CrispTree, leaf: int, dimension: int) -> str:
    value = sum_text(tree, leaf, dimension, repr, lambda feature: f"x[{feature}]")
    return f"_within({value}, {tree.actions.low[dimension]!r}, {tree.actions.high[dimension]!r})"


def decider(source: str) -> Callable[[NDArray], NDArray]:
    """The module's own `act`, row by row."""
    module: dict[str, object] = {"__name__": "policy"}
    exec(compile(source, "<export>", "exec"), module)
    act = module["act"]
    assert callable(act)
    return lambda states: np.array([act(state) for state in states])


def _table(name: str, values: tuple[object, ...]) -> list[str]:
    return [f"{name} = (", *(f"    {value!r}," for value in values), ")"]
