import pytest

from crisptree.verify.tokens import PropertyError, tokens

NAMES = ("pole angle", "pole angular velocity", "and", "left", "left leg", "3", "2nd", "a-b")


def read(text):
    return [(token.kind, token.text) for token in tokens(text, NAMES)[:-1]]


def test_the_longest_name_wins():
    assert read("left leg left pole  angle") == [
        ("name", "left leg"),
        ("name", "left"),
        ("name", "pole angle"),
    ]


def test_a_name_ends_where_a_word_ends():
    assert read("leftover") == [("word", "leftover")]


def test_names_that_mean_something_else_need_quotes():
    assert read("and \"and\" 3 '3'") == [
        ("word", "and"),
        ("quoted", "and"),
        ("number", "3"),
        ("quoted", "3"),
    ]


def test_names_with_digits_and_signs_inside():
    assert read("2nd a-b a - b") == [
        ("name", "2nd"),
        ("name", "a-b"),
        ("word", "a"),
        ("sign", "-"),
        ("word", "b"),
    ]


def test_numbers_and_signs():
    assert [text for _, text in read("1 1.5 .5 1e-3 2.E+4 <= ≥ == <-> ↔ x[1]")] == [
        *("1", "1.5", ".5", "1e-3", "2.E+4", "<=", ">=", "=", "<->", "<->"),
        *("x", "[", "1", "]"),
    ]


def test_what_means_nothing():
    with pytest.raises(PropertyError, match=r"'\$' means nothing here"):
        tokens("left $", NAMES)
    with pytest.raises(PropertyError, match="at most 10,000 characters"):
        tokens("left " * 3000, NAMES)
