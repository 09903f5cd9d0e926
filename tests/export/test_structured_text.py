import re

import blark_run
import matiec
import numpy as np
import pytest
from export_trees import EVERY, grown

from crisptree.crisp import Actions, CrispTree
from crisptree.export import check
from crisptree.export.check import compare
from crisptree.export.expected import expected
from crisptree.export.states import states, with_missing
from crisptree.export.structured_text import RESERVED, as_structured_text, comment, real
from crisptree.export.structured_text_reader import ParseError, read

# matiec reads constants in single precision and refuses what that cannot hold.
READABLE = {name: tree for name, tree in EVERY.items() if name != "extreme"}
QUICKLY_PARSED = {name: tree for name, tree in EVERY.items() if tree.n_leaves <= 12}
SMALL = CrispTree.from_nested(
    ("pole angle", 0.25, ("speed", -1e-07, "right", "left"), "left"),
    ("pole angle", "speed"),
    ("left", "right"),
)
TEXT = """\
FUNCTION_BLOCK pole
VAR_INPUT
    pole_angle : LREAL; (* pole angle *)
    speed : LREAL; (* speed *)
END_VAR
VAR_OUTPUT
    choice : DINT; (* number of the action: 0 left, 1 right *)
END_VAR

IF NOT (pole_angle > 0.25) THEN
    choice := 0; (* left *)
ELSIF speed > -1.0E-07 THEN
    choice := 1; (* right *)
ELSE
    choice := 0; (* left *)
END_IF;
END_FUNCTION_BLOCK
"""


def test_the_text():
    assert as_structured_text(SMALL, "pole").text.endswith(TEXT)


def test_a_formula_is_brought_into_bounds_at_the_end():
    actions = Actions.box(("torque",), (-2.0,), (2.0,))
    leaf = [(0.5, {"b": -3.25, "a": 1e300})]
    tree = CrispTree.from_nested(("a", 0.0, leaf, [-2.0]), ("a", "b"), actions=actions)
    body = as_structured_text(tree).body
    assert "    torque := 0.5 + 1.0E+300 * a - 3.25 * b;" in body
    assert body.endswith(
        "IF NOT (torque > -2.0) THEN\n    torque := -2.0;\n"
        "ELSIF NOT (torque < 2.0) THEN\n    torque := 2.0;\nEND_IF;"
    )


@pytest.mark.parametrize("tree", EVERY.values(), ids=EVERY)
def test_the_text_decides_as_the_tree(tree):
    run = read(as_structured_text(tree).text).run
    for dtype in (np.float64, np.float32):
        assert check(tree, run, dtype, 2000) >= 2000


@pytest.mark.parametrize("tree", QUICKLY_PARSED.values(), ids=QUICKLY_PARSED)
def test_another_parser_decides_as_the_tree(tree):
    tried = states(tree, np.float64, 200)
    tried = np.concatenate([tried, with_missing(tried)])
    compare(tried, blark_run.run(as_structured_text(tree).text, tried), expected(tree, tried))


@pytest.mark.skipif(not matiec.FOUND, reason="no matiec, which neither apt nor an index has")
def test_matiec_decides_as_the_tree(tmp_path):
    for name, tree in READABLE.items():
        folder = tmp_path / name.replace(" ", "-")
        folder.mkdir()
        tried = states(tree, np.float64, 2000)
        tried = np.concatenate([tried, with_missing(tried)])
        found = matiec.run(as_structured_text(tree), tried, folder)
        compare(tried, found, expected(tree, tried))


def test_names():
    names = ("if", "IF", "1st", "a b", "a  b", "A-B", "ü", "угол", "x" * 90, "limit", "end_if")
    tree = CrispTree.from_nested((0, 0.0, 0, 1), names, ("choice", "y"))
    block = as_structured_text(tree, "End_If")
    found = [name for name, _, _ in (*block.inputs, *block.outputs)]
    assert len({name.lower() for name in found} | {block.name.lower()}) == len(found) + 1
    for name in (*found, block.name):
        assert re.fullmatch(r"[a-z](_?[a-z0-9])*", name) and len(name) <= 52
        assert name not in RESERVED


def test_a_comment_ends_where_it_should():
    assert comment("a *) b (* c\n\x1b é") == "(* a * ) b ( * c\\n\\x1b \\xe9 *)"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), (1e-7, "1.0E-07"), (1.5e300, "1.5E+300"), (-2.0, "-2.0"), (3, "3")],
)
def test_numbers(value, text):
    assert real(value) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "FUNCTION_BLOCK",
        TEXT.replace("THEN", "", 1),
        TEXT.replace("END_IF;", "END_IF"),
        TEXT.replace(" > ", " = "),
        TEXT.replace("choice := 0", "choice ? 0"),
    ],
)
def test_what_is_no_structured_text(text):
    with pytest.raises(ParseError):
        read(text)


def test_a_large_list_stays_flat():
    body = as_structured_text(grown(200, 0)).body
    deepest = max(len(line) - len(line.lstrip()) for line in body.splitlines())
    assert deepest <= 4 * 9
