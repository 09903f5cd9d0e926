from fractions import Fraction

import pytest

from crisptree.verify.conditions import Compare
from crisptree.verify.parser import Parser


def test_names_may_be_anything_in_quotes():
    read = Parser('"and" > 1 or \'a "b"\' < 2', ("and", 'a "b"'), ("go",))
    features = [each.left.index for each in read.condition().parts]
    assert features == [0, 1]


def test_a_feature_and_an_action_may_share_a_name():
    read = Parser("fire fire > 1", ("fire",), ("fire",))
    assert read.action() == 0
    assert isinstance(read.condition(), Compare)


def test_products_bind_closer_than_sums():
    left = Parser("1 + 2 * a - a / 4 > 0", ("a",), ("go",)).condition().left
    assert left.of([Fraction(8)]) == 1 + 16 - 2


@pytest.mark.parametrize("text", ["(a + 1) * 2 > 4", "((a + 1) * 2 > 4)", "(((a)) > (1))"])
def test_brackets_around_terms_and_conditions(text):
    condition = Parser(text, ("a",), ("go",)).condition()
    assert condition.holds([Fraction(3, 2)]) and not condition.holds([Fraction(1)])
