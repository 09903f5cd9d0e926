import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from number_study import CONSTANT, LINEAR, MIXED, PARTS

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.envs.rollout import rollout
from crisptree.envs.task import task_of
from crisptree.lab.study import LinearMLP, load_drawing, make_drawing
from crisptree.lab.study.drawing import cartpole_drawings, drawing_from_dict
from crisptree.lab.study.tree_drawing import TreeDrawing

FEATURES, ACTIONS = ("angle", "x-speed"), ("left", "right")
TREE = CrispTree.from_nested(
    (
        "angle",
        0.123456,
        ("x-speed", -1.98765, "right", "left"),
        ("x-speed", 0.5, "right", "left"),
    ),
    FEATURES,
    ACTIONS,
)
LIST = CrispTree.from_nested(
    ("angle", 0.123456, ("x-speed", -1.98765, "left", "right"), "left"), FEATURES, ACTIONS
)
MLP = LinearMLP(((np.array([[1.0, -1.0], [0.0, 1.0]]), np.array([0.0, 0.5])),), FEATURES, ACTIONS)
UNITS = np.array([0.01, 0.01])


def test_kinds_follow_the_shape_unless_said():
    assert make_drawing(TREE).kind == "tree"
    assert make_drawing(LIST).kind == "list"
    assert make_drawing(LIST, "tree").kind == "tree"
    assert make_drawing(MLP).kind == "mlp"


@pytest.mark.parametrize(
    ("policy", "kind", "message"),
    [
        (TREE, "list", "every comparison of a list leads to a leaf"),
        (TREE, "mlp", "it is a tree"),
        (MLP, "tree", "its kind is mlp"),
        (CrispTree.leaf(0, FEATURES, ACTIONS), None, "always takes one action"),
    ],
)
def test_what_cannot_be_drawn_so(policy, kind, message):
    with pytest.raises(CrisptreeError, match=message):
        make_drawing(policy, kind)


@pytest.mark.parametrize("policy", [TREE, LIST, MLP], ids=["tree", "list", "mlp"])
def test_a_reader_of_the_drawing_finds_the_policys_action(policy):
    """Where the drawing is clear, the rounded policy and the exact one agree on nearby states."""
    drawing = make_drawing(policy)
    states = np.random.default_rng(0).normal(size=(500, 2))
    shown = np.round(states, 2)
    clear = drawing.is_clear(shown, UNITS)
    assert clear.mean() > 0.5
    assert (drawing.actions(shown)[clear] == policy.predict(states)[0][clear]).mean() > 0.99


def test_how_to_read_it_says_where_the_drawing_starts():
    nested = "left"
    for at in range(10):
        nested = ("angle", at / 10, ("x-speed", at / 10, "left", "right"), nested)
    large = CrispTree.from_nested(nested, FEATURES, ACTIONS)
    assert "topmost box" in make_drawing(TREE).how_to_read()
    assert "leftmost box" in make_drawing(large).how_to_read()
    assert "from top to bottom" in make_drawing(LIST).how_to_read()
    assert "topmost box" in make_drawing(LIST, "tree").how_to_read()
    assert "highest score" in make_drawing(MLP).how_to_read()


def test_ties_and_near_ties_are_not_clear():
    drawing = make_drawing(TREE)
    states = np.array([[0.12, 0.0], [0.14, 0.0], [0.2, -1.99], [0.2, -1.9]])
    assert drawing.is_clear(states, UNITS).tolist() == [False, True, False, True]
    leads = np.array([[0.25, -0.12], [0.25, -0.14], [0.25, -0.11], [0.0, 0.0]])  # .01 .03 .03 .5
    assert make_drawing(MLP).is_clear(leads, UNITS).tolist() == [False, True, True, True]


def test_thresholds_as_shown_stay_as_they_are():
    """Drawing the rounded tree shows the same numbers again."""
    shown = TreeDrawing(TREE, "tree").shown
    assert TreeDrawing(shown, "tree").shown.threshold.tolist() == shown.threshold.tolist()
    assert shown.threshold.tolist()[0] == 0.123


@given(st.tuples(st.floats(-3, 3), st.floats(-3, 3)))
def test_the_worked_way_ends_in_the_policys_action(state):
    shown = tuple(f"{value:.2f}" for value in state)
    at = np.array([[float(text) for text in shown]])
    for policy in (TREE, LIST, MLP):
        drawing = make_drawing(policy)
        assert drawing.worked(shown)[-1].endswith(f"takes: {ACTIONS[drawing.actions(at)[0]]}.")


def test_the_worked_way_in_words():
    assert make_drawing(TREE).worked(("0.20", "-2.50")) == (
        "angle is 0.20. Is it > 0.123? Yes.",
        "x-speed is −2.50. Is it > −1.99? No.",
        "So the policy takes: left.",
    )
    assert make_drawing(LIST).worked(("0.20", "-2.50")) == (
        "angle is 0.20. Is it ≤ 0.123? No.",
        "x-speed is −2.50. Is it > −1.99? No.",
        "So the policy takes: right.",
    )
    assert make_drawing(MLP).worked(("0.20", "-2.50")) == (
        "Score of left: + 0.20 − (−2.50) = 2.70.",
        "Score of right: + (−2.50) + 0.50 = −2.00.",
        "The highest score is that of left, so the policy takes: left.",
    )


@pytest.mark.parametrize("policy", [TREE, LIST, MLP], ids=["tree", "list", "mlp"])
def test_drawings_are_svg_and_read_out_text_names_every_action(policy):
    drawing = make_drawing(policy)
    ET.fromstring(drawing.svg())
    assert all(action in drawing.text() for action in ACTIONS)


def test_a_list_drawn_as_a_tree_looks_different():
    assert make_drawing(LIST).svg() != make_drawing(LIST, "tree").svg()
    assert "otherwise" in make_drawing(LIST).svg()
    assert "otherwise" not in make_drawing(LIST, "tree").svg()


def test_drawings_come_back_from_their_dictionaries():
    for policy in (TREE, LIST, MLP):
        drawing = make_drawing(policy)
        assert drawing_from_dict(policy.to_dict(), drawing.kind).svg() == drawing.svg()


def test_files_of_both_kinds(tmp_path):
    TREE.save(tmp_path / "tree.json")
    MLP.save(tmp_path / "mlp.json")
    assert load_drawing(tmp_path / "tree.json").kind == "tree"
    assert load_drawing(tmp_path / "mlp.json").kind == "mlp"
    with pytest.raises(CrisptreeError, match=r"tree\.json: this policy cannot be drawn as a list"):
        load_drawing(tmp_path / "tree.json", "list")


def test_cartpoles_drawings_come_with_the_package_and_say_how_they_were_made():
    drawings = cartpole_drawings()
    assert [drawing.kind for drawing in drawings] == ["tree", "list", "mlp"]
    for drawing in drawings:
        assert drawing.policy.env_id == "CartPole-v1"
        assert drawing.policy.training["command"].startswith("crisptree ")
    mlp = drawings[2].policy
    assert isinstance(mlp, LinearMLP) and set(np.unique(mlp.layers[0][0])) <= {-1, 0, 1}


def test_cartpoles_drawings_score_what_they_say():
    task = task_of("CartPole-v1")
    for drawing in cartpole_drawings():
        said = drawing.policy.training
        returns = rollout([drawing.policy], task, range(2**30, 2**30 + 10)).returns
        assert returns.mean() == pytest.approx(said.get("crisp_return", said.get("return")), abs=25)


def test_formulas_are_rounded_as_they_are_shown():
    drawing = TreeDrawing(LINEAR, "tree")
    svg = drawing.svg()
    for leaf in drawing.shown.leaves():
        for gain in drawing.shown.gains[leaf.node]:
            assert f"{abs(gain.weight):g}·" in svg.replace("−", "-")
    assert "3.12·velocity" in svg and "3.12345" not in drawing.text()


def test_the_worked_way_to_a_number():
    assert make_drawing(CONSTANT).worked(("0.20", "-0.50")) == (
        "angle is 0.20. Is it ≤ 0.1? No.",
        "velocity is −0.50. Is it > −0.457? No.",
        "So the policy takes: torque = −2.",
    )
    assert make_drawing(LINEAR).worked(("0.20", "0.40"))[2:] == (
        "torque = 0.512 − 3.12 × 0.40 = −0.736.",
        "So the policy takes: torque = −0.736.",
    )
    assert make_drawing(LINEAR).worked(("-1.50", "-0.30"))[2:] == (
        "torque = 0.2 + 2 × (−1.50) − 0.5 × (−0.30) = −2.65.",
        "So the policy takes: torque = −2.",
    )


def test_how_to_read_a_formula():
    assert "work it out" in make_drawing(LINEAR).how_to_read()
    assert "work it out" not in make_drawing(CONSTANT).how_to_read()


def test_flags_and_categories_are_shown_in_words():
    drawing = make_drawing(PARTS)
    assert drawing.shown_state(("1", "2")) == ("yes", "high")
    assert drawing.worked(("1", "2")) == (
        "contact is yes. contact: no? No.",
        "gear is high. gear is high? Yes.",
        "So the policy takes: steer left, brake on.",
    )
    assert "contact" in drawing.svg()


@pytest.mark.parametrize("tree", [CONSTANT, LINEAR, MIXED], ids=["constant", "linear", "mixed"])
def test_a_reader_of_numbers_is_near_the_policy(tree):
    drawing = make_drawing(tree)
    states = np.round(np.random.default_rng(0).normal(size=(500, 2)), 2)
    clear = drawing.is_clear(states, UNITS)
    assert np.abs(drawing.actions(states) - tree.act(states))[clear].max() < 0.02
