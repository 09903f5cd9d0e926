import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crisptree.verify.checker_numbers import NUMBERS, Number
from crisptree.verify.checker_polynomials import POLYNOMIALS, starting
from crisptree.verify.forms import FORMS, symbols
from crisptree.verify.intervals import INTERVALS, Interval

NUMBERS_OF_ANY_SIZE = st.floats(-1e6, 1e6)
ARITHMETICS = ("intervals", "forms", "higher forms", "checker", "checker's polynomials")
WITH_SYMBOLS = {
    "forms": (symbols, FORMS),
    "higher forms": (lambda low, high: symbols(low, high, 4, 1), FORMS),
    "checker's polynomials": (starting, POLYNOMIALS),
}


def made(arithmetic, low, high):
    if arithmetic == "intervals":
        return Interval(np.array([low]), np.array([high])), INTERVALS
    if arithmetic in WITH_SYMBOLS:
        of, xp = WITH_SYMBOLS[arithmetic]
        return of(np.array([[low]]), np.array([[high]]))[0], xp
    return Number(np.array([low]), np.array([high])), NUMBERS


def ends(value):
    if hasattr(value, "bounds"):
        value = value.bounds()
    bounds = value.hull() if hasattr(value, "hull") else value
    return float(bounds.low[0]), float(bounds.high[0])


def holds(value, exact):
    low, high = ends(value)
    return (low == -math.inf or Fraction(low) <= exact) and (
        high == math.inf or exact <= Fraction(high)
    )


@st.composite
def within(draw, numbers=NUMBERS_OF_ANY_SIZE):
    """Two bounds and a number between them."""
    return sorted(draw(st.lists(numbers, min_size=3, max_size=3)))


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@given(first=within(), second=within())
def test_sums_and_products_hold_the_exact_value(arithmetic, first, second):
    (a_low, a, a_high), (b_low, b, b_high) = first, second
    one, xp = made(arithmetic, a_low, a_high)
    other, _ = made(arithmetic, b_low, b_high)
    if arithmetic in WITH_SYMBOLS:  # each with a symbol of its own
        of, _ = WITH_SYMBOLS[arithmetic]
        one, other = of(np.array([[a_low, b_low]]), np.array([[a_high, b_high]]))
    exact, other_exact = Fraction(a), Fraction(b)
    assert holds(one + other, exact + other_exact) and holds(one - other, exact - other_exact)
    assert holds(one * other, exact * other_exact) and holds(-one, -exact)
    assert holds(3 - one * 0.1, 3 - exact * Fraction(0.1))
    assert holds(xp.square(one), exact**2) and holds(one**3, exact**3)
    assert holds(xp.clip(one, -1.0, 2.0), min(max(exact, Fraction(-1)), Fraction(2)))
    assert holds(xp.abs(one), abs(exact)) and holds(xp.minimum(one, other), min(exact, other_exact))
    assert holds(xp.where(one > other, one, other), max(exact, other_exact))
    assert holds(xp.float32(one), Fraction(float(np.float32(a))))


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@given(first=within(), second=within(st.floats(0.01, 1e6)), sign=st.sampled_from([1, -1]))
def test_quotients(arithmetic, first, second, sign):
    (a_low, a, a_high), (b_low, b, b_high) = first, sorted(sign * each for each in second)
    one, other = made(arithmetic, a_low, a_high)[0], made(arithmetic, b_low, b_high)[0]
    if arithmetic in WITH_SYMBOLS:
        of, _ = WITH_SYMBOLS[arithmetic]
        one, other = of(np.array([[a_low, b_low]]), np.array([[a_high, b_high]]))
    assert holds(one / other, Fraction(a) / Fraction(b)) and holds(1 / other, 1 / Fraction(b))


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_a_divisor_that_may_be_zero_bounds_nothing(arithmetic):
    one, _ = made(arithmetic, 1.0, 1.0)
    other, _ = made(arithmetic, -1.0, 2.0)
    assert ends(one / other) == (-math.inf, math.inf)


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@given(given_angle=within(st.floats(-30, 30)))
def test_functions(arithmetic, given_angle):
    low, angle, high = given_angle
    value, xp = made(arithmetic, low, high)
    for name in ("sin", "cos", "tanh", "exp"):
        bottom, top = ends(getattr(xp, name)(value))
        assert bottom <= getattr(math, name)(angle) <= top
        if name in ("sin", "cos", "tanh") and arithmetic not in WITH_SYMBOLS:
            assert bottom >= -1 and top <= 1
    bottom, top = ends(xp.sqrt(xp.abs(value)))
    assert bottom <= math.sqrt(abs(angle)) <= top


def test_a_wave_reaches_its_crest_and_its_trough():
    angles = Interval(np.array([-0.1, 0.1, 3.0]), np.array([0.2, 0.2, 3.3]))
    cos = INTERVALS.cos(angles)
    assert cos.high[0] == 1 and cos.high[1] == pytest.approx(math.cos(0.1)) and cos.low[2] == -1


@pytest.mark.parametrize("arithmetic", WITH_SYMBOLS)
def test_forms_remember_what_depends_on_what(arithmetic):
    x, _ = made(arithmetic, 1.0, 2.0)
    low, high = ends(x - 0.5 * x)
    assert low == pytest.approx(0.5) and high == pytest.approx(1.0)


@pytest.mark.parametrize("arithmetic", ["higher forms", "checker's polynomials"])
def test_products_are_kept_up_to_the_degree(arithmetic):
    x, xp = made(arithmetic, 0.9, 1.1)
    found = xp.sin(x) * xp.exp(x) / x - x**3 * xp.sqrt(x) + xp.tanh(x)
    left_out = getattr(found, "radius" if arithmetic == "higher forms" else "rest")
    assert 0 < left_out[0] < 1e-3


def test_slopes_do_too():
    low, high = np.array([[1.0]]), np.array([[2.0]])
    x = Number(low[:, 0], high[:, 0], [(np.ones(1), np.ones(1))])
    half = x - 0.5 * x
    bottom, top = half.around(np.array([0.75]), np.array([0.75]), low, high, (low + high) / 2)
    assert bottom[0] == pytest.approx(0.5) and top[0] == pytest.approx(1.0)


@given(within(st.floats(-2, 2)), within(st.floats(-2, 2)))
def test_the_mean_value_theorem_holds_the_exact_value(first, second):
    (a_low, a, a_high), (b_low, b, b_high) = first, second
    low, high = np.array([[a_low, b_low]]), np.array([[a_high, b_high]])
    middle = (low + high) / 2

    def function(xp, x, y):
        return xp.sin(x) * y - 0.5 * xp.square(y) + xp.clip(x - y, -1.0, 1.0) / (2.0 + xp.cos(x))

    from crisptree.verify.checker_numbers import variables

    sloped = function(NUMBERS, *variables(low, high, with_slopes=True))
    at_middle = function(NUMBERS, *variables(middle, middle))
    bottom, top = sloped.around(at_middle.low, at_middle.high, low, high, middle)
    value = function(np, np.array([a]), np.array([b]))[0]
    assert bottom[0] <= value <= top[0] and sloped.low[0] <= value <= sloped.high[0]
    for of, xp in WITH_SYMBOLS.values():
        bottom, top = ends(function(xp, *of(low, high)))
        assert bottom <= value <= top


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_a_condition_that_is_open_takes_both(arithmetic):
    value, xp = made(arithmetic, -1.0, 1.0)
    assert ends(xp.where(value > 0, 5.0, 7.0)) == (5.0, 7.0)
    assert ends(xp.where((value > 0) & (value < -2), 5.0, 7.0)) == (7.0, 7.0)
    assert ends(xp.where((value > -2) | (value > 3), 5.0, 7.0)) == (5.0, 5.0)
