from sample_trees import AWKWARD, LEAF, SMALL

from crisptree.show import as_dot


def test_a_tree():
    assert (
        as_dot(SMALL)
        == """\
digraph policy {
  node [fontname="Helvetica", shape=box, style="rounded,filled"]
  edge [fontname="Helvetica", fontsize=11]
  n0 [label="pole angular velocity > 0.242", fillcolor=white]
  n0 -> n1 [label="yes"]
  n0 -> n2 [label="no"]
  n1 [label="push right", shape=ellipse, style=filled, fillcolor="#E69F00", fontcolor="#1a1a1a"]
  n2 [label="push left", shape=ellipse, style=filled, fillcolor="#0072B2", fontcolor="#ffffff"]
}
"""
    )


def test_a_lone_leaf():
    assert 'n0 [label="push right"' in as_dot(LEAF)


def test_awkward_names():
    drawn = as_dot(AWKWARD)
    assert r'label="a \"quoted\" <b>&amp;amp; | name' in drawn
    assert r'label="\\x1b[2J\\n"' in drawn
