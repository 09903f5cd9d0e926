from sample_trees import LEAF, LIST, SMALL, TREE

from crisptree.show import as_rules


def test_a_tree():
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


def test_a_list():
    assert (
        as_rules(LIST)
        == """\
if pole angular velocity > 0.242 then push right;
else if pole angle ≤ -0.0512 then push left;
else if cart velocity > 2 then push left;
otherwise push right
"""
    )


def test_one_comparison():
    assert (
        as_rules(SMALL, decimals=1)
        == """\
if pole angular velocity > 0.2 then push right;
otherwise push left
"""
    )


def test_a_lone_leaf():
    assert as_rules(LEAF) == "always push right\n"
