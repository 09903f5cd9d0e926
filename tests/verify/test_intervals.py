import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crisptree.verify.intervals import Interval, constant

NUMBERS = st.floats(-1e6, 1e6)


@st.composite
def within(draw, numbers=NUMBERS):
    """An interval and a number in it."""
    low, inside, high = sorted(draw(st.lists(numbers, min_size=3, max_size=3)))
    return Interval(np.array([low]), np.array([high])), inside


def holds(interval, exact):
    return Fraction(float(interval.low[0])) <= exact <= Fraction(float(interval.high[0]))


@given(within(), within())
def test_sums_differences_and_products_hold_the_exact_value(first, second):
    (one, a), (other, b) = first, second
    assert holds(one.plus(other), Fraction(a) + Fraction(b))
    assert holds(one.minus(other), Fraction(a) - Fraction(b))
    assert holds(one.times(other), Fraction(a) * Fraction(b))
    assert holds(one.squared(), Fraction(a) ** 2) and one.squared().low[0] >= 0


@given(within(), within(st.floats(0.01, 1e6)))
def test_quotients(first, second):
    (one, a), (positive, b) = first, second
    assert holds(one.over(positive), Fraction(a) / Fraction(b))


@given(within(st.floats(-1.57, 1.57)))
def test_sine_and_cosine(given_angle):
    angles, angle = given_angle
    assert angles.sine().low[0] < math.sin(angle) < angles.sine().high[0]
    assert angles.cosine().low[0] < math.cos(angle) < angles.cosine().high[0]


def test_the_cosine_reaches_one_at_zero():
    angles = Interval(np.array([-0.1, 0.1]), np.array([0.2, 0.2]))
    assert angles.cosine().high[0] >= 1 and angles.cosine().high[1] == pytest.approx(math.cos(0.1))


def test_constants_have_no_width():
    assert constant(0.1).low == constant(0.1).high == 0.1
