import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_trees import AWKWARD, LEAF, LIST, SMALL, TREE
from tree_strategies import LISTS, NESTED, tree_of

from crisptree.show import as_svg

SVG = "{http://www.w3.org/2000/svg}"
GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize(
    ("name", "tree"), [("leaf", LEAF), ("small", SMALL), ("tree", TREE), ("list", LIST)]
)
def test_the_pictures_looked_at(name, tree):
    assert as_svg(tree) == (GOLDEN / f"{name}.svg").read_text(encoding="utf-8")


def cards(svg: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of every box and pill."""
    found = []
    for rect in ET.fromstring(svg).iter(f"{SVG}rect"):
        x, y, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        found.append((x, y, x + width, y + height))
    return found


@settings(max_examples=50)
@given(NESTED | LISTS)
def test_nothing_overlaps_and_everything_is_inside(nested):
    tree = tree_of(nested)
    svg = as_svg(tree)
    found = cards(svg)
    left, top, width, height = map(float, ET.fromstring(svg).attrib["viewBox"].split())
    for at, (x0, y0, x1, y1) in enumerate(found):
        assert left < x0 < x1 < left + width
        assert top < y0 < y1 < top + height
        for a0, b0, a1, b1 in found[:at]:
            assert x0 >= a1 or x1 <= a0 or y0 >= b1 or y1 <= b0


@settings(max_examples=50)
@given(
    st.lists(st.text(min_size=1, max_size=40), min_size=3, max_size=3, unique=True),
    NESTED,
)
def test_any_name_gives_well_formed_xml(names, nested):
    tree = replace(tree_of(nested), feature_names=tuple(names), action_names=tuple(names))
    ET.fromstring(as_svg(replace(tree, env_id=names[0])))


def test_tooltips_give_the_exact_threshold_and_the_whole_rule():
    titles = [title.text for title in ET.fromstring(as_svg(TREE)).iter(f"{SVG}title")]
    assert titles[0] == "CartPole-v1: tree, 5 leaves"
    assert "pole angular velocity > 0.24183" in titles
    assert "push left if pole angular velocity > 0.242 and pole angle ≤ -0.0512" in titles


def test_a_long_name_is_cut_short_and_whole_in_the_tooltip():
    svg = as_svg(AWKWARD)
    texts = [text.text for text in ET.fromstring(svg).iter(f"{SVG}text")]
    titles = [title.text or "" for title in ET.fromstring(svg).iter(f"{SVG}title")]
    assert "x" * 27 + "…" in texts
    assert any("x" * 60 in title for title in titles)


def test_colour_never_stands_alone():
    """Every leaf says its action's name, and with ten actions colours repeat but names do not."""
    nested = 0
    for action in range(1, 10):
        nested = ("x", float(action), action, nested)
    tree = type(TREE).from_nested(nested, ("x",), tuple(f"action {at}" for at in range(10)))
    texts = {text.text for text in ET.fromstring(as_svg(tree)).iter(f"{SVG}text")}
    assert texts >= set(tree.action_names)


def test_it_needs_nothing_from_outside():
    svg = as_svg(TREE)
    assert "href" not in svg
    assert "<script" not in svg
    assert svg.count("http") == 1  # the namespace
