import pytest

from crisptree.show.canvas import COLOURS, Canvas, colour_of, ink_on, text_width, xml


def luminance(colour: str) -> float:
    linear = []
    for at in (1, 3, 5):
        channel = int(colour[at : at + 2], 16) / 255
        linear.append(channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4)
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", [*COLOURS, "#ffffff"])
def test_words_on_every_colour_are_readable(colour):
    """4.5 is what WCAG 2 asks of small text."""
    assert contrast(colour, ink_on(colour)) >= 4.5


@pytest.mark.parametrize("page", ["#ffffff", "#000000"])
def test_the_grey_is_readable_on_light_and_dark_pages(page):
    assert contrast("#767676", page) >= 4.5


def test_neighbouring_actions_differ_and_colours_come_round():
    assert len(set(COLOURS)) == 8
    assert colour_of(0) == colour_of(8) == "#0072B2"


def test_wider_words_are_wider():
    assert text_width("ill", 10.0) < text_width("add", 10.0) < text_width("MMM", 10.0)
    assert text_width("add", 10.0) < text_width("add", 10.0, bold=True)
    assert text_width("速度", 10.0) == 20


def test_the_picture_is_as_large_as_its_shapes():
    canvas = Canvas()
    canvas.card(-5.0, 10.0, 100.0, 20.0, radius=3.0, fill="#ffffff", texts=[], tooltip="here")
    assert 'viewBox="-17 -2 124 44" width="124" height="44"' in canvas.drawn("a title")


def test_xml():
    assert xml("""<a b="c" d='e'>&""") == "&lt;a b=&quot;c&quot; d=&#x27;e&#x27;&gt;&amp;"
