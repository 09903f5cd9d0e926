from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from verify_trees import CART_POLE, PUSHES, STEADY, grown

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.verify.conditions import ALWAYS, All, Compare, Feature, Number, Some
from crisptree.verify.grammar import KEYWORDS
from crisptree.verify.language import parse
from crisptree.verify.plants.classic import CART_POLE as PLANT
from crisptree.verify.plants.classic import MOUNTAIN_CAR, PENDULUM
from crisptree.verify.properties import (
    Always,
    Bounded,
    Influences,
    InTheLoop,
    Jumps,
    Mirror,
    Monotone,
    Never,
    SameAs,
    Slopes,
    Sometimes,
    Symmetric,
    Where,
)

TORQUE = CrispTree.from_nested(
    ("sin angle", 0.0, {"torque": (0.5, {"angular velocity": -3.0})}, [-2.0]),
    PENDULUM.feature_names,
    actions=PENDULUM.actions,
)
CAR = CrispTree.leaf(0, MOUNTAIN_CAR.feature_names, MOUNTAIN_CAR.actions.names)
X0 = Compare(Feature(0), ">", Number(Fraction(1)))


HOSTILE = [
    "a/b",
    "/",
    "\\",
    "\\/",
    "[",
    "(",
    "a|b",
    "\n",
    "\r",
    "\0",
    "−",
    "日本",
    "\U0001f600",
    "#",
]
HOSTILE += ["x/ | ANY: /.*", "a/\n%import common.WORD", "(?P<a>", "a{2}", "_", "'", "1"]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_whatever_a_name_holds_it_is_a_name(name):
    """Names come from policy files; none becomes a part of the grammar."""
    tree = CrispTree.from_nested((name, 0.0, 1, 0), (name, "other"), ("stay", "go/"))
    above = Compare(Feature(0), ">", Number(Fraction(1)))
    assert parse(f'never "go/" when "{name}" > 1', tree) == Never(1, above)
    assert parse("never stay when x[0] > 1", tree) == Never(0, above)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("never push left", Never(0)),
        ('always "push right" when cart position > 1', Always(1, X0)),
        ("sometimes action[1] when x[0] > 1", Sometimes(1, X0)),
        ("where push left when (cart position > 1)", Where(0, X0)),
        (
            "never push left when cart position > 1 and (cart position>1 or x[0]>1)",
            Never(0, All((X0, Some((X0, X0))))),
        ),
        ("increasing in pole angle", Monotone(2, False)),
        ("decreasing in pole angle when cart position > 1", Monotone(2, True, X0)),
        (
            "symmetric under -all, push left <-> push right",
            Symmetric(Mirror((0, 1, 2, 3), (-1, -1, -1, -1), (1, 0))),
        ),
        (
            "symmetric under cart position <-> pole angle, -cart velocity",
            Symmetric(Mirror((2, 1, 0, 3), (1, -1, 1, 1), (0, 1))),
        ),
        ("from cart position > 1 stays up for 3 steps", InTheLoop("stays", X0, None, 3)),
        ("from x[0] > 1 stays cart position > 1 for 1 step", InTheLoop("stays", X0, X0, 1)),
        ("from reset stays up for ever", InTheLoop("stays", None, None, None)),
        (
            "from reset reaches cart position > 1 within 9 steps",
            InTheLoop("reaches", None, X0, 9),
        ),
        (
            "from reset reaches the goal within 9 steps and stays with delay, noise 0.5 on x[2]",
            InTheLoop("settles", None, None, 9, Influences({2: 0.5}, {}, True)),
        ),
    ],
)
def test_properties(text, expected):
    assert parse(text, STEADY, PLANT) == expected


def test_same_as_reads_a_file():
    other = grown(2, 0, 4, 2)
    asked = parse('same as "there.json"', STEADY, None, lambda path: {"there.json": other}[path])
    assert isinstance(asked, SameAs) and asked.other is other and asked.when is ALWAYS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected 'always' or 'changes' or .* there is the end"),
        ("nevr push left", "expected .*'never'.* there is 'nevr'"),
        ("never", "expected an action: push left, push right; after 'never' there is the end"),
        ("never cart position", "expected an action: .* there is 'cart'"),
        ("never push left if x[0] > 1", "expected the end or 'when'; .* there is 'if'"),
        (
            "never push left when x[0] > 1 x[1]",
            "expected .*the end or 'and' or 'or'; .* there is 'x",
        ),
        ("never push left when pole anglle > 1", "expected a feature: cart position, .* 'pole'"),
        ("never push left when x[4] > 1", r"the features are numbered 0 … 3"),
        ("never push left when x[0.5] > 1", "expected a feature: .* there is 'x'"),
        ("never push left when x[0]", "expected one of < <= > >= = != ?.*; .* there is the end"),
        ("never push left when (x[0] > 1", r"expected '\)'"),
        ("never push left when ((x[0] > 1) and", "there is the end"),
        ("never push left when (x[0] + 1 > 1 or x[1]) > 2", "expected one of <"),
        ("never push left when |x[0] > 1", r"expected '\|'"),
        ("never push left when x[0] * x[1] > 1", "features cannot be multiplied"),
        ("never push left when x[0] / 0 > 1", "only a number other than zero can divide"),
        ("never push left when 1 / x[0] > 1", "only a number other than zero can divide"),
        ("never push left when x[0] > 1e400", "larger than any float64"),
        ("never push left when " + "(" * 70, "too many brackets"),
        ("never push left when " + "-" * 150 + "x[0] > 1", "too many brackets"),
        ("never push left when " + "not " * 70 + "x[0] > 1", "too many brackets"),
        ("never push left when |x[0]|" + "+|x[0]|" * 4 + " > 1", "at most 4 absolute values"),
        ("same as other", "expected a policy file in quotes"),
        ("symmetric under pole angle", "expected '<->'"),
        ("symmetric under pole angle <-> push left", "expected a feature"),
        ("symmetric under 3", "expected an action: .* or a feature: .*; after 'symmetric under'"),
        ("symmetric under x[0] <-> x[1], x[1] <-> x[2]", "a feature is exchanged twice"),
        ("symmetric under x[0] <-> x[1], -x[0]", "turn round both or neither"),
        ("from x[0] > 1 stays up for 1.5 steps", "a whole number in 1 … 1,000,000"),
        ("from x[0] > 1 stays up for many steps", "expected a number"),
        ("from x[0] > 1 goes up", "expected .*'reaches' or 'stays'"),
    ],
)
def test_a_wrong_property_gets_a_clear_message(text, message):
    with pytest.raises(CrisptreeError, match=f"^in the property “.*”: .*{message}"):
        parse(text, STEADY)


def test_another_shape():
    with pytest.raises(CrisptreeError, match="the other policy has 8 features, this one 4"):
        parse('same as "a"', STEADY, None, lambda path: grown(2, 0))


SIGNS = ("<", ">", "=", "|", "(", ")", "+", "-", "*", "/", ",", "[", "]", "<->", "1", "0.5", '"a"')
WORDS = st.sampled_from([*CART_POLE, *PUSHES, *SIGNS, *sorted(KEYWORDS)])


@given(st.lists(WORDS, max_size=25))
def test_any_words_are_a_property_or_a_clear_message(words):
    try:
        parse(" ".join(words), STEADY, PLANT, lambda path: STEADY)
    except CrisptreeError as error:
        assert "\n" not in str(error)


@given(st.text(max_size=60))
def test_any_text_is_a_property_or_a_clear_message(text):
    with pytest.raises(CrisptreeError):
        parse("never push left when " + text + " and", STEADY)


def test_a_text_that_is_too_long():
    with pytest.raises(CrisptreeError, match="at most 4,000 characters"):
        parse("never push left when " + "x[0]+" * 1000, STEADY)


def test_a_feature_and_an_action_may_share_a_name():
    tree = CrispTree.from_nested(("fire", 0.5, "fire", "wait"), ("fire",), ("fire", "wait"))
    asked = parse("never fire when fire > 1", tree)
    assert isinstance(asked, Never) and asked.action == 0


def test_properties_of_real_actions():
    asked = parse("torque <= 1 when angular velocity > 0", TORQUE)
    assert isinstance(asked, Bounded) and asked == parse("always torque <= 1 when x[2] > 0", TORQUE)
    assert isinstance(parse("never |torque| > 1.5", TORQUE), Bounded)
    assert parse("jumps at most 0.5", TORQUE) == Jumps(0.5)
    assert parse("changes at most 3 per sin angle", TORQUE) == Slopes(3.0, 1)
    with pytest.raises(CrisptreeError, match="expected a part of the action: torque"):
        parse("never push left", TORQUE)


def test_a_loop_speaks_of_the_plant():
    asked = parse("from |angle| <= 0.1 stays cos angle > 0 for 9 steps", TORQUE, PENDULUM)
    assert isinstance(asked, InTheLoop) and isinstance(asked.region, Compare)
    assert asked.region.left == Feature(2)
    asked = parse("from |all| <= 0.1 stays cos angle > 0 for 9 steps", TORQUE, PENDULUM)
    assert isinstance(asked, InTheLoop) and isinstance(asked.start, All)
    assert len(asked.start.parts) == 2
    with pytest.raises(CrisptreeError, match="nothing disturbs this plant"):
        parse("from reset reaches the goal within 9 steps with disturbance 1", CAR, MOUNTAIN_CAR)
