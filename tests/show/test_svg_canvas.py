from crisptree.show.palette import NEUTRAL, style_of
from crisptree.show.svg_canvas import Canvas, Rectangle, number, text_width, xml


def test_wider_words_are_wider():
    assert text_width("ill", 10.0) < text_width("add", 10.0) < text_width("MMM", 10.0)
    assert text_width("add", 10.0) < text_width("add", 10.0, bold=True)
    assert text_width("速度", 10.0) == 20


def test_the_picture_is_as_large_as_its_shapes():
    canvas = Canvas()
    canvas.box(Rectangle(-5.0, 10.0, 100.0, 20.0), NEUTRAL, radius=3.0, tooltip="here")
    assert 'viewBox="-17 -2 124 44" width="124" height="44"' in canvas.to_svg("a title")


def test_a_style_with_a_dashed_border():
    canvas = Canvas()
    canvas.box(Rectangle(0.0, 0.0, 10.0, 10.0), style_of(12), radius=3.0)
    assert 'stroke-dasharray="6 3"' in canvas.to_svg("")


def test_xml():
    assert xml("""<a b="c" d='e'>&""") == "&lt;a b=&quot;c&quot; d=&#x27;e&#x27;&gt;&amp;"


def test_numbers_are_short():
    assert [number(value) for value in (1.0, -0.04, 2.25, 1234.56)] == ["1", "0", "2.2", "1234.6"]
