from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from verify_trees import CART_POLE, PUSHES, STEADY, grown

from crisptree.base.errors import CrisptreeError
from crisptree.verify.conditions import ALWAYS, All, Compare, Feature, Number, Some
from crisptree.verify.language import parse
from crisptree.verify.properties import (
    Always,
    Mirror,
    Monotone,
    Never,
    SameAs,
    Sometimes,
    Stays,
    Symmetric,
    Where,
)
from crisptree.verify.tokens import KEYWORDS

X0 = Compare(Feature(0), ">", Number(Fraction(1)))


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
        ("from cart position > 1 stays up for 3 steps", Stays(X0, None, 3)),
        ("from x[0] > 1 stays cart position > 1 for 1 step", Stays(X0, X0, 1)),
    ],
)
def test_properties(text, expected):
    assert parse(text, STEADY) == expected


def test_same_as_reads_a_file():
    other = grown(2, 0, 4, 2)
    asked = parse('same as "there.json"', STEADY, lambda path: {"there.json": other}[path])
    assert isinstance(asked, SameAs) and asked.other is other and asked.when is ALWAYS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a property starts with never, always"),
        ("nevr push left", "a property starts with never, always"),
        ("never", "expected an action: push left, push right; after 'never' there is the end"),
        ("never cart position", "expected an action: .* there is 'cart position'"),
        ("never push left if x[0] > 1", "expected when CONDITION; .* there is 'if'"),
        ("never push left when x[0] > 1 x[1]", "expected and, or"),
        ("never push left when pole anglle > 1", "expected a feature: cart position, .* 'pole'"),
        ("never push left when x[4] > 1", r"the features are numbered 0 … 3"),
        ("never push left when x[0.5] > 1", r"the features are numbered 0 … 3"),
        ("never push left when x[0]", "expected one of < <= > >= = !=; .* there is the end"),
        ("never push left when (x[0] > 1", r"expected '\)'"),
        ("never push left when ((x[0] > 1) and", "there is the end"),
        ("never push left when (x[0] + 1 > 1 or x[1]) > 2", "expected one of <"),
        ("never push left when |x[0] > 1", r"expected '\|'"),
        ("never push left when x[0] * x[1] > 1", "features cannot be multiplied"),
        ("never push left when x[0] / 0 > 1", "only a number other than zero can divide"),
        ("never push left when 1 / x[0] > 1", "only a number other than zero can divide"),
        ("never push left when x[0] > 1e400", "larger than any float64"),
        ("never push left when " + "(" * 50, "nested more than 40 deep"),
        ("never push left when " + "-" * 50 + "x[0] > 1", "nested more than 40 deep"),
        ("never push left when " + "not " * 50 + "x[0] > 1", "nested more than 40 deep"),
        ("never push left when |x[0]|" + "+|x[0]|" * 4 + " > 1", "at most 4 absolute values"),
        ("same as other", "expected a policy file in quotes"),
        ("symmetric under pole angle", "expected '<->'"),
        ("symmetric under pole angle <-> push left", "expected a feature"),
        ("symmetric under 3", "expected a feature or an action; after 'symmetric under'"),
        ("symmetric under x[0] <-> x[1], x[1] <-> x[2]", "a feature is exchanged twice"),
        ("symmetric under x[0] <-> x[1], -x[0]", "turn round both or neither"),
        ("from x[0] > 1 stays up for 1.5 steps", "a whole number in 1 … 100000"),
        ("from x[0] > 1 stays up for many steps", "expected a number"),
        ("from x[0] > 1 goes up", "expected 'stays'"),
    ],
)
def test_a_wrong_property_gets_a_clear_message(text, message):
    with pytest.raises(CrisptreeError, match=f"^in the property “.*”: .*{message}"):
        parse(text, STEADY)


def test_another_shape():
    with pytest.raises(CrisptreeError, match="the other policy has 8 feature names, this one 4"):
        parse('same as "a"', STEADY, lambda path: grown(2, 0))


SIGNS = ("<", ">", "=", "|", "(", ")", "+", "-", "*", "/", ",", "[", "]", "<->", "1", "0.5", '"a"')
WORDS = st.sampled_from([*CART_POLE, *PUSHES, *SIGNS, *sorted(KEYWORDS)])


@given(st.lists(WORDS, max_size=25))
def test_any_words_are_a_property_or_a_clear_message(words):
    try:
        parse(" ".join(words), STEADY, lambda path: STEADY)
    except CrisptreeError as error:
        assert "\n" not in str(error)


@given(st.text(max_size=60))
def test_any_text_is_a_property_or_a_clear_message(text):
    with pytest.raises(CrisptreeError):
        parse("never push left when " + text + " and", STEADY)
