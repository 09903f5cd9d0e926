import pytest

from crisptree.crisp import Condition, CrispTree
from crisptree.show.words import Words, shortened

TREE = CrispTree.from_nested(
    ("x", 1.0, "go", ("x", 0.25, "stop", ("y\x1b[2J", -3.0, "go", "stop"))),
    ("x", "y\x1b[2J"),
    ("stop", "go"),
)


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Condition(0, above=1.0), "x > 1"),
        (Condition(0, at_most=0.25), "x ≤ 0.25"),
        (Condition(0, 0.25, 1.0), "0.25 < x ≤ 1"),
        (Condition(1, at_most=-3.0), r"y\x1b[2J ≤ -3"),
    ],
)
def test_conditions(condition, words):
    assert Words(TREE).condition(condition) == words


def test_several_conditions():
    both = (Condition(0, above=1.0), Condition(1, above=-3.0))
    assert Words(TREE).conditions(both) == r"x > 1 and y\x1b[2J > -3"
    assert Words(TREE).conditions(()) == ""


def test_shortened():
    assert shortened("pole angle", 10) == "pole angle"
    assert shortened("pole angle", 9) == "pole ang…"
    assert shortened("pole angle", 6) == "pole…"
