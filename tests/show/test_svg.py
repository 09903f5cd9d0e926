import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_trees import (
    AWKWARD,
    CAR,
    EVERY_KIND,
    FLAGS,
    LEAF,
    LIST,
    PENDULUM,
    SMALL,
    TREE,
    TWO_ENGINES,
)
from tree_strategies import LISTS, NESTED, tree_of

from crisptree.crisp import CrispTree
from crisptree.show import as_svg
from crisptree.show.palette import ACTION_COLOURS
from crisptree.show.svg import folded_at

SVG = "{http://www.w3.org/2000/svg}"
GOLDEN = Path(__file__).parent / "golden"
POLICIES = Path(__file__).parents[2] / "policies"


LOOKED_AT = {
    "leaf": LEAF,
    "small": SMALL,
    "tree": TREE,
    "list": LIST,
    "pendulum": PENDULUM,
    "two-engines": TWO_ENGINES,
    "car": CAR,
    "flags": FLAGS,
}


@pytest.mark.parametrize(("name", "tree"), LOOKED_AT.items(), ids=LOOKED_AT)
def test_the_pictures_looked_at(name, tree):
    assert as_svg(tree) == (GOLDEN / f"{name}.svg").read_text(encoding="utf-8")


def boxes_of(svg: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of every box and pill."""
    found = []
    for rect in ET.fromstring(svg).iter(f"{SVG}rect"):
        x, y, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        found.append((x, y, x + width, y + height))
    return found


@given(NESTED | LISTS)
def test_nothing_overlaps_and_everything_is_inside(nested):
    tree = tree_of(nested)
    svg = as_svg(tree)
    found = boxes_of(svg)
    left, top, width, height = map(float, ET.fromstring(svg).attrib["viewBox"].split())
    for at, (x0, y0, x1, y1) in enumerate(found):
        assert left < x0 < x1 < left + width
        assert top < y0 < y1 < top + height
        for a0, b0, a1, b1 in found[:at]:
            assert x0 >= a1 or x1 <= a0 or y0 >= b1 or y1 <= b0


@given(
    st.lists(st.text(min_size=1, max_size=40), min_size=3, max_size=3, unique=True),
    NESTED,
)
def test_any_name_gives_well_formed_xml(names, nested):
    ET.fromstring(as_svg(CrispTree.from_nested(nested, names, names, env_id=names[0])))


def test_tooltips_give_the_exact_threshold_and_the_whole_rule():
    titles = [title.text for title in ET.fromstring(as_svg(TREE)).iter(f"{SVG}title")]
    assert titles[0] == "CartPole-v1: decision tree of 5 leaves, depth 3"
    assert "pole angular velocity > 0.24183" in titles
    assert "push left if pole angular velocity > 0.242 and pole angle ≤ −0.0512" in titles


def test_a_long_name_is_cut_short_and_whole_in_the_tooltip():
    svg = as_svg(AWKWARD)
    texts = [text.text for text in ET.fromstring(svg).iter(f"{SVG}text")]
    titles = [title.text or "" for title in ET.fromstring(svg).iter(f"{SVG}title")]
    assert "x" * 27 + "…" in texts
    assert any("x" * 60 in title for title in titles)


def of_actions(count: int) -> CrispTree:
    nested: object = 0
    for action in range(1, count):
        nested = ("x", float(action), action, nested)
    return CrispTree.from_nested(nested, ("x",), tuple(f"action {at}" for at in range(count)))


def texts_of(svg: str) -> list[str]:
    return [text.text or "" for text in ET.fromstring(svg).iter(f"{SVG}text")]


def leaf_styles(svg: str) -> set[tuple[str, str]]:
    """Fill and dashes of every box that is not white."""
    rects = ET.fromstring(svg).iter(f"{SVG}rect")
    found = {(rect.attrib["fill"], rect.attrib.get("stroke-dasharray", "")) for rect in rects}
    return {each for each in found if each[0] != "#ffffff"}


@pytest.mark.parametrize("count", [2, 10, 12, 13, 30])
def test_no_two_actions_look_alike(count):
    svg = as_svg(of_actions(count))
    assert len(leaf_styles(svg)) == count
    assert set(texts_of(svg)) >= {f"action {at}" for at in range(count)}


def test_few_actions_of_many_have_colours_of_their_own():
    """Of forty actions the tree takes three: numbers 1, 13 and 25, which share a place."""
    names = tuple(f"action {at}" for at in range(40))
    tree = CrispTree.from_nested(("x", 1.0, 1, ("x", 0.0, 13, 25)), ("x",), names)
    assert leaf_styles(as_svg(tree)) == {(colour, "") for colour in ACTION_COLOURS[:3]}


def test_the_colours_of_zerglings_differ():
    """`nothing` and `move east` once were of one colour."""
    tree = CrispTree.load(Path(__file__).parents[2] / "policies" / "zerglings-tree-28.json")
    assert len(leaf_styles(as_svg(tree))) == len(set(tree.action[tree.feature < 0].tolist()))


def test_title_score_and_legend():
    texts = texts_of(as_svg(PENDULUM))
    assert "Pendulum-v1" in texts
    assert "list of 2 rules and an otherwise · return −158.2 ± 9.1 over 100 episodes" in texts
    assert {"torque", "−2", "2", "what a formula gives is kept within these bounds"} <= set(texts)
    assert texts_of(as_svg(TREE)).count("push left") == 2 + 1
    assert "steer right, brake on" in texts_of(as_svg(CAR))


def test_with_states_lines_are_as_wide_as_their_share():
    states = np.zeros((100, 4))
    states[:25, 3] = 1.0  # a quarter goes to the TRUE side of the root
    widths = [
        path.attrib["stroke-width"]
        for path in ET.fromstring(as_svg(SMALL, states=states)).iter(f"{SVG}path")
    ]
    assert widths == ["3.44", "7.81"]
    assert "the wider a line, the more of 100 states go along it" in as_svg(SMALL, states=states)
    assert as_svg(SMALL, states=np.empty((0, 4))) == as_svg(SMALL)


@pytest.mark.parametrize("tree", EVERY_KIND.values(), ids=EVERY_KIND)
def test_every_kind_is_well_formed_and_nothing_overlaps(tree):
    svg = as_svg(tree)
    ET.fromstring(svg)
    assert "nan" not in svg and "inf" not in svg.replace("infinity", "")
    boxes = [
        group.find(f"{SVG}rect").attrib  # type: ignore[union-attr]
        for group in ET.fromstring(svg).iter(f"{SVG}g")
    ]
    places = [[float(box[name]) for name in ("x", "y", "width", "height")] for box in boxes]
    for at, (x, y, width, height) in enumerate(places):
        for a, b, w, h in places[:at]:
            assert x >= a + w or x + width <= a or y >= b + h or y + height <= b


def test_it_needs_nothing_from_outside():
    svg = as_svg(TREE)
    assert "href" not in svg
    assert "<script" not in svg
    assert svg.count("http") == 1  # the namespace


def test_a_long_sum_has_a_line_for_each_term():
    policy = Path(__file__).parents[2] / "policies" / "derived" / "lunarlander-tree-8.json"
    drawing = ET.fromstring(as_svg(CrispTree.load(policy)))
    said = [element.text for element in drawing.iter() if element.text]
    assert {"− 0.87·horizontal position", "− 0.48·vertical velocity"} <= set(said)
    assert not [text for text in said if text.endswith("…")]


def test_a_large_tree_is_folded_to_as_many_ends():
    tree = CrispTree.load(POLICIES / "lunarlander-tree-209.json")
    whole, folded = as_svg(tree), as_svg(tree, most_leaves=12)
    assert "leaves</text>" not in whole and len(folded) < len(whole)
    below = [int(count) for count in re.findall(r"\+ (\d+) leaves</text>", folded)]
    ends = folded_at(tree, 12)
    assert sorted(below) == sorted(ends.values())
    drawn = tree.n_leaves - sum(below)  # leaves above the last level
    assert 6 < len(below) + drawn <= 12
    assert folded_at(tree, tree.n_leaves) == {} == folded_at(tree, None)
    assert as_svg(tree, most_leaves=tree.n_leaves) == whole
