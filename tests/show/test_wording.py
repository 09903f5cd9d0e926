import pytest
from sample_trees import CAR, FLAGS, PENDULUM, TWO_ENGINES

from crisptree.base.text import counted
from crisptree.crisp import Actions, Condition, CrispTree, Feature
from crisptree.show.wording import ExactWording, Wording, shortened

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
def test_conditions_of_numbers(condition, words):
    assert Wording(TREE).condition(condition) == words


def test_the_minus_sign():
    assert Wording(TREE, minus="−").condition(Condition(1, at_most=-3.0)).endswith("≤ −3")


def test_several_conditions():
    both = (Condition(0, above=1.0), Condition(1, above=-3.0))
    assert Wording(TREE).conditions(both) == r"x > 1 and y\x1b[2J > -3"
    assert Wording(TREE).conditions(()) == ""


def of_kind(feature: Feature, *thresholds: float) -> CrispTree:
    nested: object = 0
    for threshold in thresholds:
        nested = (0, threshold, 1, nested)
    return CrispTree.from_nested(nested, features=(feature,), action_names=("a", "b"))


@pytest.mark.parametrize("threshold", [0.0, 0.456, 0.999])
def test_a_flag_is_answered(threshold):
    wording = Wording(of_kind(Feature("contact", "flag"), threshold))
    assert wording.question(0) == "contact?"
    assert [wording.answer(0, answer) for answer in (True, False)] == [
        "contact: yes",
        "contact: no",
    ]
    assert [wording.test(0, answer) for answer in (True, False)] == ["yes", "no"]


@pytest.mark.parametrize("threshold", [-0.5, 1.0, 7.0])
def test_a_comparison_that_tells_a_flag_nothing_is_written_as_it_stands(threshold):
    wording = Wording(of_kind(Feature("contact", "flag"), threshold))
    assert wording.question(0) == wording.answer(0, True) == f"contact > {threshold:g}"
    assert wording.test(0, False) == f"≤ {threshold:g}"


def test_a_flag_asked_twice():
    wording = Wording(of_kind(Feature("contact", "flag"), 0.6, 0.2))
    assert wording.condition(Condition(0, 0.6)) == "contact: yes"
    assert wording.condition(Condition(0, 0.2, 0.6)) == "0.2 < contact ≤ 0.6"  # never


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Condition(0, above=2.5), "row ≥ 3"),
        (Condition(0, above=2.0), "row ≥ 3"),
        (Condition(0, at_most=2.5), "row ≤ 2"),
        (Condition(0, 2.5, 6.9), "3 ≤ row ≤ 6"),
        (Condition(0, 2.5, 3.2), "row = 3"),
        (Condition(0, -4.5, 3.2), "-4 ≤ row ≤ 3"),
        (Condition(0, 2.5, 2.9), "2.5 < row ≤ 2.9"),  # never
        (Condition(0, above=1e300), "row > 1e300"),
    ],
)
def test_a_whole_number(condition, words):
    thresholds = (2.5, 2.0, 6.9, 3.2, -4.5, 2.9, 1e300)
    assert (
        Wording(of_kind(Feature("row", "category", 0.0, 9.0), *thresholds)).condition(condition)
        == words
    )


COLOURS = ("red", "green", "blue", "black", "white", "pink", "grey", "brown", "gold")


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Condition(0, above=8.5), "colour is gold"),
        (Condition(0, above=1.5), "colour is not red"),
        (Condition(0, above=2.5), "colour is neither red nor green"),
        (Condition(0, 1.5, 8.5), "colour is neither red nor gold"),
        (Condition(0, 2.5, 8.5), "colour is none of red, green, gold"),
        (Condition(0, above=4.2), "colour is one of white … gold"),
        (Condition(0, at_most=1.5), "colour is red"),
        (Condition(0, at_most=3.5), "colour is red, green or blue"),
        (Condition(0, at_most=-0.5), "colour ≤ -1"),  # never
        (Condition(0, above=0.5), "colour ≥ 1"),  # always
    ],
)
def test_a_category_with_names(condition, words):
    feature = Feature("colour", "category", 1.0, 9.0, COLOURS)
    thresholds = (8.5, 1.5, 2.5, 4.2, 3.5, -0.5, 0.5)
    assert Wording(of_kind(feature, *thresholds)).condition(condition) == words


@pytest.mark.parametrize(
    ("feature", "value", "text"),
    [
        (0, 1.0, "yes"),
        (0, 0.0, "no"),
        (0, 0.5, "0.5"),
        (2, 3.0, "3"),
        (3, 1.0, "G"),
        (3, 9.0, "9"),
        (3, 0.5, "0.5"),
        (4, -0.1, "-0.1"),
    ],
)
def test_values(feature, value, text):
    assert Wording(FLAGS).value(feature, value) == text


def test_every_digit():
    tree = of_kind(Feature("x"), 1 / 3)
    assert ExactWording(tree).condition(Condition(0, 2 / 3)) == "x > 0.6666666666666666"


def leaves(tree):
    return [leaf.node for leaf in tree.leaves()]


def test_several_choices():
    actions = Wording(CAR).actions
    assert [actions.of(leaf) for leaf in leaves(CAR)] == [
        "steer left, brake off",
        "steer straight, brake off",
        "steer right, brake on",
    ]
    assert actions.lines(leaves(CAR)[0]) == (("steer left",), ("brake off",))


def test_real_numbers_and_formulas():
    actions = Wording(PENDULUM).actions
    assert [actions.of(leaf) for leaf in leaves(PENDULUM)] == [
        "torque = 0.5 - 8.25·sin of angle - 3.1·angular velocity, between -2 and 2",
        "torque = 1.2 - 3.1·angular velocity, between -2 and 2",
        "torque = -2",
    ]
    wide = actions.lines(leaves(PENDULUM)[0])
    assert wide == (("torque = 0.5 - 8.25·sin of angle", "- 3.1·angular velocity"),)


def test_two_numbers():
    of = Wording(TWO_ENGINES).actions.of
    assert [of(leaf) for leaf in leaves(TWO_ENGINES)] == [
        "main engine = 0, side engine = 0.75",
        "main engine = -0.5, side engine = -0.5",
        "main engine = 0.25 + 0.25·angle - 1.5·vertical velocity, between -1 and 1; "
        "side engine = -0.1",
    ]


def test_a_formula_without_a_constant_starts_with_its_sign():
    box = Actions.box(("u",), (-1.0,), (3.0,))
    falls = CrispTree.leaf([(0.0, {"x": -2.0})], ("x",), actions=box)
    assert Wording(falls, minus="−").actions.of(0) == "u = −2·x, between −1 and 3"
    rises = CrispTree.leaf([(0.0, {"x": 2.0})], ("x",), actions=box)
    assert Wording(rises).actions.of(0) == "u = 2·x, between -1 and 3"


def test_the_action_at_an_observation():
    actions = Wording(PENDULUM).actions
    first, second, third = leaves(PENDULUM)
    assert actions.at(second, [0.5, 0.0, 0.3]) == "torque = 0.27"
    assert actions.at(first, [0.5, 0.0, 3.0]) == "torque = -2"
    assert actions.at(third, [0.0, 0.0, 0.0]) == "torque = -2"


def test_decimals_of_actions():
    assert Wording(PENDULUM, decimals=2).actions.of(4) == "torque = -2.00"


def test_shortened():
    assert shortened("pole angle", 10) == "pole angle"
    assert shortened("pole angle", 9) == "pole ang…"
    assert shortened("pole angle", 6) == "pole…"


def test_counted():
    assert counted(1, "rule") == "1 rule" and counted(2, "rule") == "2 rules"
    assert (
        counted(1, "leaf", "leaves") == "1 leaf"
        and counted(1200, "leaf", "leaves") == "1,200 leaves"
    )
