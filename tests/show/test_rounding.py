import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crisptree.crisp import CrispTree
from crisptree.show.rounding import exact, rounded, rounded_thresholds, significant

FINITE = st.floats(allow_nan=False, allow_infinity=False).map(lambda value: value + 0.0)
CLOSE = FINITE.flatmap(
    lambda value: st.integers(0, 40).map(lambda ulps: value + ulps * abs(value) * 2.0**-50)
).filter(lambda value: abs(value) < 1e308)


def listed(thresholds: list[float]) -> CrispTree:
    """A rule list over one feature with these thresholds."""
    nested = 0
    for threshold in thresholds:
        nested = ("x", threshold, 1, nested)
    return CrispTree.from_nested(nested, ("x", "y"), ("left", "right"))


@given(st.lists(FINITE | CLOSE, min_size=1, max_size=8), st.none() | st.integers(0, 6))
def test_order_and_sign_survive_rounding(thresholds, decimals):
    numbers = rounded_thresholds(listed(thresholds), decimals)
    shown = {value: float(numbers[0, value]) for value in thresholds}
    ordered = sorted(shown)
    assert all(shown[a] < shown[b] for a, b in itertools.pairwise(ordered))
    assert all((value > 0) == (text > 0) for value, text in shown.items())
    assert all((value < 0) == (text < 0) for value, text in shown.items())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.24183, "0.242"),
        (-0.0512, "-0.0512"),
        (0.5, "0.5"),
        (2.0, "2"),
        (1234.56, "1235"),
        (123456.7, "123457"),
        (12345678.9, "1.23e7"),
        (0.000123456, "0.000123"),
        (0.0000123456, "1.23e-5"),
        (-1e300, "-1e300"),
        (100.0, "100"),
        (0.9999, "1"),
        (999.96, "1000"),
    ],
)
def test_three_significant_digits(value, text):
    assert significant(value, 3) == text


def test_more_digits_where_two_thresholds_would_look_alike():
    numbers = rounded_thresholds(listed([0.12306, 0.12314, 7.5]))
    shown = [numbers[0, value] for value in (0.12306, 0.12314, 7.5)]
    assert shown == ["0.12306", "0.12314", "7.5"]


def test_other_features_keep_theirs():
    nested = ("x", 0.12345, 0, ("x", 0.12351, 1, ("y", 0.12345, 0, 1)))
    numbers = rounded_thresholds(CrispTree.from_nested(nested, ("x", "y"), ("left", "right")))
    assert numbers[1, 0.12345] == "0.123"


def test_decimals_are_kept_where_they_tell_thresholds_apart():
    numbers = rounded_thresholds(listed([0.5, 1.25]), decimals=1)
    assert [numbers[0, 0.5], numbers[0, 1.25]] == ["0.5", "1.2"]
    assert rounded_thresholds(listed([0.0, 2.0]), decimals=2)[0, 0.0] == "0.00"


def test_decimals_give_way_where_they_would_not():
    numbers = rounded_thresholds(listed([0.51, 0.54]), decimals=1)
    assert [numbers[0, 0.51], numbers[0, 0.54]] == ["0.51", "0.54"]
    assert rounded_thresholds(listed([-0.004]), decimals=2)[0, -0.004] == "-0.004"


@given(FINITE)
def test_exact_is_exact(value):
    assert float(exact(value)) == value


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (-3.14159, None, "-3.14"),
        (0.5, 2, "0.50"),
        (0.001, 2, "0.001"),
        (-0.0, 1, "0.0"),
        (0.0, 0, "0"),
    ],
)
def test_a_number_by_itself(value, decimals, text):
    assert rounded(value, decimals) == text


@given(FINITE)
def test_a_number_by_itself_keeps_its_sign(value):
    read = float(rounded(value))
    assert (read > 0) == (value > 0) and (read < 0) == (value < 0)
