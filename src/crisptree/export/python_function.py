"""A tree as a Python function that needs nothing but Python."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.export.branches import If, statements
from crisptree.export.origin import about


def as_python(tree: CrispTree) -> str:
    """The text of a module with `act(x)`, `FEATURES` and `ACTIONS`.

    Thresholds are written with the digits that give back the same float64. An array is turned
    into a list first: NumPy would compare a float32 with the threshold rounded to float32, and a
    list is quicker to look into besides.
    """
    lines = [
        *(f"# {line}" for line in about(tree)),
        "",
        *_table("FEATURES", tree.feature_names),
        *_table("ACTIONS", tree.action_names),
        "",
        "",
        "def act(x):",
        '    """The number of the action for one observation: a list, a tuple or an array."""',
        "    if type(x) is not list and type(x) is not tuple:",
        "        x = x.tolist()",
    ]
    for statement in statements(tree):
        indent = "    " * (statement.level + 1)
        if isinstance(statement, If):
            feature, threshold, _, _ = tree.nodes[statement.node]
            comparison = f"x[{feature}] > {threshold!r}"
            condition = comparison if statement.answer else f"not {comparison}"
            lines.append(f"{indent}if {condition}:  # {printable(tree.feature_names[feature])}")
        else:
            action = int(tree.action[statement.leaf])
            lines.append(f"{indent}return {action}  # {printable(tree.action_names[action])}")
    return "\n".join(lines) + "\n"


def decider(source: str) -> Callable[[NDArray], NDArray[np.int64]]:
    """The module's own `act`, row by row."""
    module: dict[str, object] = {"__name__": "policy"}
    exec(compile(source, "<export>", "exec"), module)
    act = module["act"]
    assert callable(act)
    return lambda states: np.array([act(state) for state in states], dtype=np.int64)


def _table(name: str, values: tuple[str, ...]) -> list[str]:
    return [f"{name} = (", *(f"    {value!r}," for value in values), ")"]
