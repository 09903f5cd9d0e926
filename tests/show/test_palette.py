import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crisptree.show.palette import ACTION_COLOURS, GREY, ValueScale, readable_on, style_of


def rgb(colour: str) -> list[float]:
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", [*ACTION_COLOURS, "#ffffff"])
def test_text_on_every_colour_is_readable(colour):
    """4.5 is what WCAG 2 asks of small text."""
    assert contrast(colour, readable_on(colour)) >= 4.5


@pytest.mark.parametrize("page", ["#ffffff", "#000000"])
def test_the_grey_is_readable_on_light_and_dark_pages(page):
    assert contrast(GREY, page) >= 4.5


def lab(colour: str) -> list[float]:
    """CIE L*a*b*, in which distances are about those that people see."""
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb(colour)
    )
    x = (0.4125 * red + 0.3576 * green + 0.1804 * blue) / 0.9505
    y = 0.2127 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9503 * blue) / 1.0888
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


def test_the_colours_of_twelve_actions_are_far_apart():
    for one, other in itertools.combinations(ACTION_COLOURS, 2):
        assert math.dist(lab(one), lab(other)) > 20


def test_thirty_six_actions_look_different():
    assert len({style_of(place) for place in range(36)}) == 36
    assert (
        style_of(0).border == "" and style_of(12).border and style_of(12).fill == style_of(0).fill
    )


def test_zero_is_pale_and_the_ends_are_strong():
    scale = ValueScale(-2.0, 1.0)
    assert scale.colour(0.0) == "#f4f4f1"
    assert scale.colour(-2.0) == scale.colour(-9.0) == "#0b5394"
    assert scale.colour(1.0) == scale.colour(9.0) == "#b34700"
    assert ValueScale(1.0, 3.0).colour(1.0) == "#f4f4f1"
    assert ValueScale(-3.0, -1.0).colour(-1.0) == "#f4f4f1"
    assert ValueScale(2.0, 2.0).colour(2.0) == "#f4f4f1"


BOUNDS = st.floats(allow_nan=False, allow_infinity=False)


@given(BOUNDS, BOUNDS, BOUNDS)
def test_any_number_has_a_readable_colour(one, other, value):
    scale = ValueScale(min(one, other), max(one, other))
    fill, text, _ = scale.style(value)
    assert contrast(fill, text) >= 4.5
    assert len(scale.sampled()) == 33
