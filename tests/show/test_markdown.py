from sample_trees import AWKWARD, LEAF, LIST, TREE

from crisptree.show import as_markdown


def test_a_tree():
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


def test_a_list():
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


def test_a_lone_leaf():
    assert "| 1 | always | push right |" in as_markdown(LEAF)


def test_awkward_names():
    row = as_markdown(AWKWARD).splitlines()[2]
    assert r'a "quoted" \<b>\&amp; \| name\_with\*marks\* \`and\` #35; \[x\](y)' in row
    assert r"| \\x1b\[2J\\n |" in row
