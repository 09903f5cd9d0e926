from fractions import Fraction
from typing import Any

import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.verify.conditions import ALWAYS, branches, cuts
from crisptree.verify.grammar import Names
from crisptree.verify.language import parse_condition

NAMES = ("x", "y")


def condition(text):
    return parse_condition(text, Names(NAMES))


@pytest.mark.parametrize(
    ("text", "observation", "truth"),
    [
        ("x > 1", (1, 0), False),
        ("x >= 1", (1, 0), True),
        ("x = 1 and y != 1", (1, 0), True),
        ("not x < 1 or y > 5", (0, 0), False),
        ("0.1 < x <= 0.5", (0.5, 0), True),
        ("0.1 < x <= 0.5", (0.1, 0), False),
        ("|x - y| < 1", (3, 4), False),
        ("|x - y| <= 1", (3, 4), True),
        ("2*x - y/4 + 1 > 0", (-1, -3), False),
        ("-(x + y) * 3 = 3", (-1, 0), True),
        ("abs(x) + abs(y) <= 2 and |all| < 1.5", (1, -1), True),
        ("all > 0", (1, 0), False),
        ("x ≤ 1 and y ≥ −1", (1, -1), True),
    ],
)
def test_truth(text, observation, truth):
    assert condition(text).holds([Fraction(value) for value in observation]) is truth


def test_numbers_are_those_of_python():
    assert not condition("x > 0.1").holds([Fraction(0.1), Fraction()])
    assert condition("x > 0.1").holds([Fraction(1, 10) * 2, Fraction()])
    assert condition("10 * x > 1").holds([Fraction(0.1), Fraction()])


def test_always():
    assert ALWAYS.holds([])


def test_cuts():
    assert cuts(condition("2*x > 3 and x + y > 1 or |y - 1| < 2")) == {
        (0, Fraction(3, 2)),
        (1, Fraction(-1)),
        (1, Fraction(3)),
        (1, Fraction(1)),
    }


def test_a_feature_that_cancels_out_makes_no_cut():
    assert cuts(condition("x - x > 3")) == set()


def test_branches_hold_the_value():
    term: Any = condition("|x| - 2*|y| + x > 0")
    term = term.left
    for x in (-2, 1):
        for y in (-3, 2):
            at = [Fraction(x), Fraction(y)]
            values = [
                sum((c * at[f] for f, c in each.coefficients.items()), each.constant)
                for each in branches(term)
            ]
            assert term.of(at) in values and len(values) == 4


def test_names_may_be_anything_in_quotes():
    asked: Any = parse_condition('"and" > 1 or \'a "b"\' < 2', Names(("and", 'a "b"')))
    assert [each.left.index for each in asked.parts] == [0, 1]


def test_products_bind_closer_than_sums():
    asked: Any = parse_condition("1 + 2 * a - a / 4 > 0", Names(("a",)))
    assert asked.left.of([Fraction(8)]) == 1 + 16 - 2


@pytest.mark.parametrize("text", ["(a + 1) * 2 > 4", "((a + 1) * 2 > 4)", "(((a)) > (1))"])
def test_brackets_around_terms_and_conditions(text):
    asked: Any = parse_condition(text, Names(("a",)))
    assert asked.holds([Fraction(3, 2)]) and not asked.holds([Fraction(1)])


def test_a_long_sum_is_no_deep_one():
    asked: Any = parse_condition("+".join(["a"] * 1500) + " > 0", Names(("a",)))
    assert asked.holds([Fraction(1)])


def test_the_longest_name_wins_and_ends_where_a_word_ends():
    names = Names(("left", "left leg", "2nd", "a-b", "3"))
    asked: Any = parse_condition("left leg > 0 and left  leg < 9 and 2nd = a-b", names)
    assert [each.left.index for each in asked.parts] == [1, 1, 2]
    with pytest.raises(CrisptreeError, match="there is 'leftover'"):
        parse_condition("leftover > 1", names)
    quoted: Any = parse_condition("3 > '3'", names)
    assert quoted.right.index == 4
