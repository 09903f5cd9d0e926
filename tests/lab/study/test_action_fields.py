import math

import pytest
from number_study import CONSTANT, LINEAR, MIXED

from crisptree.crisp import Actions, CrispTree
from crisptree.lab.study import make_drawing
from crisptree.lab.study.action_fields import (
    ActionField,
    action_fields,
    is_action,
    tolerances_for,
)


def test_a_choice_is_right_or_wrong_and_a_number_nearly_right():
    choice = ActionField("", ("left", "right"))
    assert choice.is_right(1, 1) and not choice.is_right(0, 1)
    number = ActionField("torque", (), -2.0, 2.0, 0.1)
    assert number.is_right(0.6, 0.5) and number.is_right(0.4, 0.5)
    assert not number.is_right(0.61, 0.5)


@pytest.mark.parametrize(
    ("tolerance", "value", "text"),
    [
        (0.08, 0.12345, "0.123"),
        (0.08, -0.0001, "0.000"),
        (20.0, -153.2, "-153"),
    ],
)
def test_numbers_show_one_digit_more_than_counts(tolerance, value, text):
    assert ActionField("x", (), -200.0, 200.0, tolerance).text(value) == text


def test_the_range_in_words():
    assert ActionField("x", (), -2.0, 1.5, 0.1).range_text == "between −2 and 1.5"


def test_fields_follow_the_kind_of_action():
    assert action_fields(Actions.discrete(("a", "b")), ()) == (ActionField("", ("a", "b")),)
    parts = Actions.multi_discrete(("steer", "brake"), (("left", "right"), ("off", "on")))
    assert [field.name for field in action_fields(parts, ())] == ["steer", "brake"]
    box = Actions.box(("torque",), (-2.0,), (2.0,))
    assert action_fields(box, (0.08,)) == (ActionField("torque", (), -2.0, 2.0, 0.08),)


def test_is_action():
    fields = (ActionField("", ("a", "b")), ActionField("x", (), 0.0, 1.0, 0.1))
    assert is_action(fields, (1, 0.5))
    for wrong in ((2, 0.5), (0.5, 0.5), (1, math.nan), (1,), (1, 0.5, 0)):
        assert not is_action(fields, wrong)


def test_a_tolerance_is_two_per_cent_of_the_range_and_less_than_what_tells_leaves_apart():
    assert tolerances_for([make_drawing(LINEAR)]) == (0.08,)
    assert tolerances_for([make_drawing(CONSTANT)]) == (0.08,)
    close = CrispTree.from_nested(
        ("angle", 0.0, [0.5], [0.53]), ("angle", "velocity"), actions=CONSTANT.actions
    )
    assert tolerances_for([make_drawing(close)]) == (0.01,)
    assert tolerances_for([make_drawing(t) for t in (LINEAR, close)]) == (0.01,)
    assert tolerances_for([make_drawing(MIXED)]) == (0.08, 0.2)


def test_choices_have_no_tolerance():
    tree = CrispTree.from_nested(("a", 0.0, 0, 1), ("a",), ("left", "right"))
    assert tolerances_for([make_drawing(tree)]) == ()
