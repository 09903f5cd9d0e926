import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.envs.policy import policy_from
from crisptree.envs.rollout import rollout
from crisptree.envs.task import task_of
from crisptree.lab.study import LinearMLP, load_aid, make_aid
from crisptree.lab.study.aids import aid_from_dict, cartpole_aids

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
    assert make_aid(TREE).kind == "tree"
    assert make_aid(LIST).kind == "list"
    assert make_aid(LIST, "tree").kind == "tree"
    assert make_aid(MLP).kind == "mlp"


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
        make_aid(policy, kind)


@pytest.mark.parametrize("policy", [TREE, LIST, MLP], ids=["tree", "list", "mlp"])
def test_a_reader_of_the_drawing_finds_the_policys_action(policy):
    """Where the aid is clear, the rounded policy and the exact one agree on nearby states."""
    aid = make_aid(policy)
    states = np.random.default_rng(0).normal(size=(500, 2))
    shown = np.round(states, 2)
    clear = aid.is_clear(shown, UNITS)
    assert clear.mean() > 0.5
    assert (aid.actions(shown)[clear] == policy.predict(states)[0][clear]).mean() > 0.99


def test_how_to_read_it_says_where_the_drawing_starts():
    nested = "left"
    for at in range(10):
        nested = ("angle", at / 10, ("x-speed", at / 10, "left", "right"), nested)
    large = CrispTree.from_nested(nested, FEATURES, ACTIONS)
    assert "topmost box" in make_aid(TREE).how_to_read()
    assert "leftmost box" in make_aid(large).how_to_read()
    assert "from top to bottom" in make_aid(LIST).how_to_read()
    assert "topmost box" in make_aid(LIST, "tree").how_to_read()
    assert "highest score" in make_aid(MLP).how_to_read()


def test_ties_and_near_ties_are_not_clear():
    aid = make_aid(TREE)
    states = np.array([[0.12, 0.0], [0.14, 0.0], [0.2, -1.99], [0.2, -1.9]])
    assert aid.is_clear(states, UNITS).tolist() == [False, True, False, True]
    leads = np.array([[0.25, -0.12], [0.25, -0.14], [0.25, -0.11], [0.0, 0.0]])  # .01 .03 .03 .5
    assert make_aid(MLP).is_clear(leads, UNITS).tolist() == [False, True, True, True]


def test_thresholds_as_shown_stay_as_they_are():
    """Drawing the rounded tree shows the same numbers again."""
    aid = make_aid(TREE)
    assert make_aid(aid.shown).shown.threshold.tolist() == aid.shown.threshold.tolist()
    assert aid.shown.threshold.tolist()[0] == 0.123


@given(st.tuples(st.floats(-3, 3), st.floats(-3, 3)))
def test_the_worked_way_ends_in_the_policys_action(state):
    shown = tuple(f"{value:.2f}" for value in state)
    at = np.array([[float(text) for text in shown]])
    for policy in (TREE, LIST, MLP):
        aid = make_aid(policy)
        assert aid.worked(shown)[-1].endswith(f"takes: {ACTIONS[aid.actions(at)[0]]}.")


def test_the_worked_way_in_words():
    assert make_aid(TREE).worked(("0.20", "-2.50")) == (
        "angle is 0.20. Is it > 0.123? Yes.",
        "x-speed is −2.50. Is it > −1.99? No.",
        "So the policy takes: left.",
    )
    assert make_aid(LIST).worked(("0.20", "-2.50")) == (
        "angle is 0.20. Is it ≤ 0.123? No.",
        "x-speed is −2.50. Is it > −1.99? No.",
        "So the policy takes: right.",
    )
    assert make_aid(MLP).worked(("0.20", "-2.50")) == (
        "Score of left: + 0.20 − (−2.50) = 2.70.",
        "Score of right: + (−2.50) + 0.50 = −2.00.",
        "The highest score is that of left, so the policy takes: left.",
    )


@pytest.mark.parametrize("policy", [TREE, LIST, MLP], ids=["tree", "list", "mlp"])
def test_drawings_are_svg_and_spoken_text_names_every_action(policy):
    aid = make_aid(policy)
    ET.fromstring(aid.drawing())
    assert all(action in aid.spoken() for action in ACTIONS)


def test_a_list_drawn_as_a_tree_looks_different():
    assert make_aid(LIST).drawing() != make_aid(LIST, "tree").drawing()
    assert "otherwise" in make_aid(LIST).drawing()
    assert "otherwise" not in make_aid(LIST, "tree").drawing()


def test_aids_come_back_from_their_dictionaries():
    for policy in (TREE, LIST, MLP):
        aid = make_aid(policy)
        assert aid_from_dict(policy.to_dict(), aid.kind).drawing() == aid.drawing()


def test_files_of_both_kinds(tmp_path):
    TREE.save(tmp_path / "tree.json")
    MLP.save(tmp_path / "mlp.json")
    assert load_aid(tmp_path / "tree.json").kind == "tree"
    assert load_aid(tmp_path / "mlp.json").kind == "mlp"
    with pytest.raises(CrisptreeError, match=r"tree\.json: this policy cannot be drawn as a list"):
        load_aid(tmp_path / "tree.json", "list")


def test_cartpoles_aids_come_with_the_package_and_say_how_they_were_made():
    aids = cartpole_aids()
    assert [aid.kind for aid in aids] == ["tree", "list", "mlp"]
    for aid in aids:
        assert aid.policy.env_id == "CartPole-v1"
        assert aid.policy.training["command"].startswith("crisptree ")
    assert aids[2].policy.is_binarised


def test_cartpoles_aids_score_what_they_say():
    task = task_of("CartPole-v1")
    for aid in cartpole_aids():
        said = aid.policy.training
        returns = rollout([policy_from(aid.policy, task)], task, range(2**30, 2**30 + 10)).returns
        assert returns.mean() == pytest.approx(said.get("crisp_return", said.get("return")), abs=25)
