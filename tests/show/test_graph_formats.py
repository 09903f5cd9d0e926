from sample_trees import AWKWARD, CAR, FLAGS, LEAF, PENDULUM, SMALL

from crisptree.crisp import CrispTree
from crisptree.show import as_dot, as_mermaid


def test_dot_a_tree():
    assert (
        as_dot(SMALL)
        == """\
digraph policy {
  node [fontname="Helvetica", shape=box, style="rounded,filled"]
  edge [fontname="Helvetica", fontsize=11]
  n0 [label="pole angular velocity > 0.242", fillcolor=white]
  n0 -> n1 [label="yes"]
  n0 -> n2 [label="no"]
  n1 [label="push right", shape=ellipse, style="filled", fillcolor="#E69F00", fontcolor="#1a1a1a"]
  n2 [label="push left", shape=ellipse, style="filled", fillcolor="#0072B2", fontcolor="#ffffff"]
}
"""
    )


def test_dot_a_lone_leaf():
    assert 'n0 [label="push right"' in as_dot(LEAF)


def test_dot_awkward_names():
    drawn = as_dot(AWKWARD)
    assert r'label="a \"quoted\" <b>&amp;amp; | name' in drawn
    assert r'label="\\x1b[2J\\n"' in drawn


def test_mermaid_a_tree():
    assert (
        as_mermaid(SMALL)
        == """\
flowchart TD
    n0["pole angular velocity > 0.242"]
    n0 -- yes --> n1
    n0 -- no --> n2
    n1(["push right"]):::action0
    n2(["push left"]):::action1
    classDef action0 fill:#E69F00,color:#1a1a1a
    classDef action1 fill:#0072B2,color:#ffffff
"""
    )


def test_mermaid_awkward_names():
    drawn = as_mermaid(AWKWARD)
    assert 'n0["a #34;quoted#34; #60;b>#38;amp#59; | name#95;with#42;marks#42; #96;and' in drawn
    assert 'n1(["#92;x1b[2J#92;n"])' in drawn


def test_dot_of_every_kind_of_leaf():
    assert 'label="torque = 1.2 - 3.1·angular velocity, between -2 and 2"' in as_dot(PENDULUM)
    assert 'label="steer right, brake on"' in as_dot(CAR)
    assert 'label="left leg contact?"' in as_dot(FLAGS)


def test_mermaid_of_every_kind_of_leaf():
    assert 'n4(["torque = -2"])' in as_mermaid(PENDULUM)
    assert 'n1(["steer left, brake off"])' in as_mermaid(CAR)
    assert 'n0["left leg contact?"]' in as_mermaid(FLAGS)


def test_the_thirteenth_action_has_a_dashed_border():
    nested: object = 0
    for action in range(1, 13):
        nested = ("x", float(action), action, nested)
    tree = CrispTree.from_nested(nested, ("x",), tuple(f"action {at}" for at in range(13)))
    assert as_dot(tree).count('style="filled,dashed"') == 1
    assert as_mermaid(tree).count("stroke-dasharray:6 3") == 1
