from fractions import Fraction

import pytest

from crisptree.verify.conditions import ALWAYS, branches, cuts
from crisptree.verify.parser import Parser

NAMES = ("x", "y")


def condition(text):
    return Parser(text, NAMES, ("go",)).condition()


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
    term = condition("|x| - 2*|y| + x > 0").left
    for x in (-2, 1):
        for y in (-3, 2):
            at = [Fraction(x), Fraction(y)]
            values = [
                sum((c * at[f] for f, c in each.coefficients.items()), each.constant)
                for each in branches(term)
            ]
            assert term.of(at) in values and len(values) == 4
