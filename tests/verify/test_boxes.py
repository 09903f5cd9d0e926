from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crisptree.verify.boxes import NotABoxError, as_box
from crisptree.verify.grammar import Names
from crisptree.verify.language import parse_condition

INF = np.inf


def condition(text):
    return parse_condition(text, Names(("x", "y")))


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("x <= 1", [[-INF, 1], [-INF, INF]]),
        ("x < 1", [[-INF, np.nextafter(1, 0)], [-INF, INF]]),
        ("-2 < x and |y| <= 0.5", [[np.nextafter(-2, 0), INF], [-0.5, 0.5]]),
        ("2*x - 1 >= 3 and x <= 5", [[2, 5], [-INF, INF]]),
        ("x = 1", [[1, 1], [-INF, INF]]),
        ("|x - 1| + 1 <= 2", [[0, 2], [-INF, INF]]),
        ("|all| <= 1", [[-1, 1], [-1, 1]]),
        ("1 > 2", [[INF, -INF], [INF, -INF]]),
        ("1 < 2", [[-INF, INF], [-INF, INF]]),
    ],
)
def test_boxes(text, box):
    assert as_box(condition(text), 2).tolist() == [[float(e) for e in row] for row in box]


@pytest.mark.parametrize(
    "text",
    ["x + y < 1", "|x| > 1", "x < 1 or y < 1", "not x < 1", "x != 1", "1 - |x| < 0", "|x| = 1"],
)
def test_what_is_no_box(text):
    with pytest.raises(NotABoxError):
        as_box(condition(text), 2)


@given(
    st.sampled_from(["x < {}", "x >= {}", "3*x <= {}", "|x - 1| < {}", "-7*x + 1 > {}"]),
    st.floats(-10, 10),
    st.floats(-10, 10),
)
def test_a_float_is_in_the_box_exactly_if_it_meets_the_condition(form, number, value):
    asked = condition(form.format(repr(number)))
    low, high = as_box(asked, 2)[0]
    for each in (value, low, high, np.nextafter(low, -INF), np.nextafter(high, INF)):
        if np.isfinite(each):
            inside = bool(low <= each <= high)
            assert asked.holds([Fraction(float(each)), Fraction()]) == inside
