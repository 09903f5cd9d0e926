"""A tree as a Python function that needs nothing but Python."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.export.about import about
from crisptree.export.leaves import observed_names
from crisptree.export.nested_ifs import GIVES, Language, lines_of

PYTHON = Language(
    "    ",
    lambda comparison, answer: f"if {comparison if answer else f'not {comparison}'}:",
    "return {}",
    "  # ",
    vector="({},)",
    within="_within",
)
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
    return [
        "def act(x):",
        f'    """{GIVES[tree.actions.kind]} for one observation: a list, a tuple or an array."""',
        "    if type(x) is not list and type(x) is not tuple:",
        "        x = x.tolist()",
        *lines_of(tree, PYTHON),
    ]


def decider(source: str) -> Callable[[NDArray], NDArray]:
    """The module's own `act`, row by row."""
    module: dict[str, object] = {"__name__": "policy"}
    exec(compile(source, "<export>", "exec"), module)
    act = module["act"]
    assert callable(act)
    return lambda states: np.array([act(state) for state in states])


def _table(name: str, values: tuple[object, ...]) -> list[str]:
    return [f"{name} = (", *(f"    {value!r}," for value in values), ")"]
