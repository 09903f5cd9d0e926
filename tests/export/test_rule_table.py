import csv
import io

import numpy as np
import pytest
from export_trees import BOX, EVERY, HOSTILE

from crisptree.crisp import CrispTree
from crisptree.export import as_rules_csv, as_rules_markdown, check
from crisptree.export.rule_table_reader import csv_decider, markdown_decider

LINEAR = CrispTree.from_nested(
    (
        "angle",
        0.25,
        {"torque": (1.25, {"speed": -3.5}), "brake": 0.0},
        ("angle", -1, [0, 0], [2, 1]),
    ),
    ("angle", "speed"),
    actions=BOX,
)
CSV = """\
rule,angle above,angle at most,torque,brake,torque per speed,in words
1,0.25,,1.25,0.0,-3.5,"torque = 1.25 - 3.5 * speed, brake = 0.0"
2,-1.0,0.25,0.0,0.0,,"torque = 0.0, brake = 0.0"
3,,-1.0,2.0,1.0,,"torque = 2.0, brake = 1.0"
"""
MARKDOWN = """\
torque is brought into -2.0 … 2.0.

| rule | if | then |
|--:|---|---|
| 1 | angle > 0.25 | torque = 1.25 - 3.5 \\* speed, brake = 0.0 |
| 2 | -1.0 &lt; angle ≤ 0.25 | torque = 0.0, brake = 0.0 |
| 3 | angle ≤ -1.0 | torque = 2.0, brake = 1.0 |
"""


def test_the_tables():
    assert as_rules_csv(LINEAR).text == CSV
    assert as_rules_markdown(LINEAR).text.endswith(MARKDOWN)


@pytest.mark.parametrize("tree", EVERY.values(), ids=EVERY)
def test_the_rules_decide_as_the_tree(tree):
    for made, decider in ((as_rules_csv, csv_decider), (as_rules_markdown, markdown_decider)):
        for dtype in (np.float64, np.float32):
            assert check(tree, decider(made(tree)), dtype, 500) >= 500


def test_a_rule_too_few_is_noticed():
    table = as_rules_csv(LINEAR)
    short = table._replace(text="".join(table.text.splitlines(keepends=True)[:-1]))
    with pytest.raises(RuntimeError, match="observations meet no rule or several"):
        check(LINEAR, csv_decider(short), np.float64, 100)


def test_names_break_no_table():
    rows = list(csv.reader(io.StringIO(as_rules_csv(HOSTILE).text)))
    assert {len(row) for row in rows} == {len(rows[0])} and len(rows) == HOSTILE.n_leaves + 1
    table = [line for line in as_rules_markdown(HOSTILE).text.splitlines() if line.startswith("|")]
    assert len(table) == HOSTILE.n_leaves + 2
    for line in table[2:]:
        assert line.replace("\\|", "").count("|") == 4


def test_a_lone_leaf():
    tree = CrispTree.leaf(1, ("a",), ("x", "y"))
    assert "| 1 | always | y |" in as_rules_markdown(tree).text
    assert as_rules_csv(tree).text == "rule,action,in words\n1,1,y\n"
