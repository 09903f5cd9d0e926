from hypothesis import given
from sample_trees import AWKWARD, CAR, FLAGS, LEAF, LIST, PENDULUM, SMALL, TREE, TWO_ENGINES
from tree_strategies import NESTED, tree_of

from crisptree.show import as_markdown, as_rules, as_text


def test_text_a_tree():
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


def test_text_a_lone_leaf():
    assert as_text(LEAF) == "push right\n"


def test_text_decimals():
    assert as_text(TREE, decimals=1).startswith("pole angular velocity > 0.2\n├── yes: pole angle")


def test_text_names_cannot_steer_the_terminal():
    assert r"├── yes: \x1b[2J\n" in as_text(AWKWARD)
    assert as_text(AWKWARD).count("\n") == 3


@given(NESTED)
def test_text_one_line_a_node(nested):
    tree = tree_of(nested)
    assert as_text(tree).count("\n") == tree.n_nodes


def test_rules_a_tree():
    assert (
        as_rules(TREE)
        == """\
if pole angular velocity > 0.242 and pole angle > -0.0512 then push right
if pole angular velocity > 0.242 and pole angle ≤ -0.0512 then push left
if pole angular velocity ≤ 0.242 and cart position > -1.2 then push right
if pole angular velocity ≤ 0.242 and cart position ≤ -1.2 and pole angle > 0.1 then push right
if pole angular velocity ≤ 0.242 and cart position ≤ -1.2 and pole angle ≤ 0.1 then push left
"""
    )


def test_rules_a_list():
    assert (
        as_rules(LIST)
        == """\
if pole angular velocity > 0.242 then push right;
else if pole angle ≤ -0.0512 then push left;
else if cart velocity > 2 then push left;
otherwise push right
"""
    )


def test_rules_one_comparison():
    assert (
        as_rules(SMALL, decimals=1)
        == """\
if pole angular velocity > 0.2 then push right;
otherwise push left
"""
    )


def test_rules_a_lone_leaf():
    assert as_rules(LEAF) == "always push right\n"


def test_markdown_a_tree():
    assert (
        as_markdown(TREE, decimals=1)
        == """\
| rule | if | then |
|---:|---|---|
| 1 | pole angular velocity > 0.2 and pole angle > -0.1 | push right |
| 2 | pole angular velocity > 0.2 and pole angle ≤ -0.1 | push left |
| 3 | pole angular velocity ≤ 0.2 and cart position > -1.2 | push right |
| 4 | pole angular velocity ≤ 0.2 and cart position ≤ -1.2 and pole angle > 0.1 | push right |
| 5 | pole angular velocity ≤ 0.2 and cart position ≤ -1.2 and pole angle ≤ 0.1 | push left |
"""
    )


def test_markdown_a_list():
    assert (
        as_markdown(LIST)
        == """\
| rule | if | then |
|---:|---|---|
| 1 | if pole angular velocity > 0.242 | push right |
| 2 | else if pole angle ≤ -0.0512 | push left |
| 3 | else if cart velocity > 2 | push left |
| 4 | otherwise | push right |
"""
    )


def test_markdown_a_lone_leaf():
    assert "| 1 | always | push right |" in as_markdown(LEAF)


def test_markdown_awkward_names():
    row = as_markdown(AWKWARD).splitlines()[2]
    assert r'a "quoted" \<b>\&amp; \| name\_with\*marks\* \`and\` #35; \[x\](y)' in row
    assert r"| \\x1b\[2J\\n |" in row


def test_text_flags_and_categories():
    assert (
        as_text(FLAGS)
        == """\
left leg contact?
├── yes: row ≥ 3
│   ├── yes: stay
│   └── no: row ≥ 1
│       ├── yes: down
│       └── no: up
└── no: passenger is in the taxi
    ├── yes: height > -0.25
    │   ├── yes: up
    │   └── no: stay
    └── no: passenger is not R
        ├── yes: right leg contact?
        │   ├── yes: stay
        │   └── no: down
        └── no: up
"""
    )


def test_rules_flags_and_categories():
    lines = as_rules(FLAGS).splitlines()
    assert lines[0] == "if left leg contact: yes and row ≥ 3 then stay"
    assert lines[1] == "if left leg contact: yes and 1 ≤ row ≤ 2 then down"
    assert lines[5] == (
        "if left leg contact: no and passenger is neither R nor in the taxi "
        "and right leg contact: yes then stay"
    )
    assert "0.456" not in as_rules(FLAGS)


def test_rules_of_every_kind_of_leaf():
    assert as_rules(CAR).splitlines()[-1] == "otherwise steer right, brake on"
    assert as_rules(TWO_ENGINES).splitlines()[1] == (
        "else if angle > 0.1 then main engine = 0, side engine = 0.75;"
    )
    assert as_rules(PENDULUM).splitlines()[1] == (
        "else if cos of angle > 0.2 then torque = 1.2 - 3.1·angular velocity, between -2 and 2;"
    )


def test_markdown_of_a_formula():
    last = as_markdown(PENDULUM).splitlines()[3]
    formula = "torque = 1.2 - 3.1·angular velocity, between -2 and 2"
    assert last == f"| 2 | else if cos of angle > 0.2 | {formula} |"
