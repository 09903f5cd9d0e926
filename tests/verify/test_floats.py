from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crisptree.verify.floats import largest, nearest, neighbours, readable

TYPES = [np.float32, np.float64]


@pytest.mark.parametrize("dtype", TYPES)
@given(cut=st.fractions() | st.floats(allow_nan=False, allow_infinity=False).map(Fraction))
def test_no_float_lies_between_neighbours(dtype, cut):
    low, before, after, high = neighbours(cut, dtype)
    inside = abs(cut) <= largest(dtype)
    assert low <= before <= after <= high
    assert not inside or before <= cut <= after
    for left, right in ((low, before), (before, after), (after, high)):
        step = np.nextafter(dtype(float(left)), dtype(np.inf)) if left != right else right
        assert Fraction(float(step)) == right
    assert before == after or not inside or Fraction(float(nearest(cut, dtype))) != cut


def test_the_outermost_floats():
    top = largest(np.float32)
    assert neighbours(Fraction(10) ** 300, np.float32) == (
        Fraction(float(np.nextafter(np.float32(np.inf), np.float32(0)))) - _gap(top),
        top,
        top,
        top,
    )


def _gap(top):
    return top - Fraction(float(np.nextafter(np.float32(float(top)), np.float32(0))))


def test_readable_shortens_what_it_may():
    assert readable([0.123456, -7.5], lambda x: x[0] > 0.1, np.float64) == [0.2, 0.0]
    assert readable([0.123456], lambda x: 0.12 < x[0] < 0.13, np.float64) == [0.123]
    assert readable([0.1], lambda x: x[0] == 0.1, np.float64) == [0.1]


def test_readable_keeps_to_the_type():
    (value,) = readable([0.123456], lambda x: 0.12 < x[0] < 0.13, np.float32)
    assert value == float(np.float32(value))
