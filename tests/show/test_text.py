from hypothesis import given
from sample_trees import AWKWARD, LEAF, TREE
from tree_strategies import NESTED, tree_of

from crisptree.show import as_text


def test_a_tree():
    assert (
        as_text(TREE)
        == """\
pole angular velocity > 0.242
├── yes: pole angle > -0.0512
│   ├── yes: push right
│   └── no: push left
└── no: cart position > -1.2
    ├── yes: push right
    └── no: pole angle > 0.1
        ├── yes: push right
        └── no: push left
"""
    )


def test_a_lone_leaf():
    assert as_text(LEAF) == "push right\n"


def test_decimals():
    assert as_text(TREE, decimals=1).startswith("pole angular velocity > 0.2\n├── yes: pole angle")


def test_names_cannot_steer_the_terminal():
    assert r"├── yes: \x1b[2J\n" in as_text(AWKWARD)
    assert as_text(AWKWARD).count("\n") == 3


@given(NESTED)
def test_one_line_a_node(nested):
    tree = tree_of(nested)
    assert as_text(tree).count("\n") == tree.n_nodes
