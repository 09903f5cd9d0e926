"""Calls from Python that cannot be meant are answered in a line that says what would be right.

They are made in a fresh Python, since the tests' own checks of types would answer first.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from crisptree import CrispTree

FILE = str(Path(__file__).parents[2] / "policies" / "cartpole-tree-4.json")
BY_KEYWORD = "takes the environment first and all settings by keyword:"
A_PATH = "a policy is given by the path of its file or of a run, not by"
A_TREE = "CrispTree.load(path) reads one from a file or a run"
CALLS = {
    "crisptree.train('CartPole-v1', 8)": f"train {BY_KEYWORD} train(env, leaves=8)",
    "TreePolicy('MlpPolicy', 'CartPole-v1')": f"TreePolicy {BY_KEYWORD} TreePolicy(env, leaves=4)",
    "TreePolicy.load(3)": f"{A_PATH} int",
    "CrispTree.load(None)": f"{A_PATH} NoneType",
    "tree.save(3)": f"{A_PATH} int",
    "crisptree.as_text(FILE)": f"a CrispTree is shown, not str; {A_TREE}",
    "crisptree.as_svg(FILE)": f"a CrispTree is shown, not str; {A_TREE}",
    "crisptree.as_html(FILE)": f"a CrispTree is shown, not str; {A_TREE}",
    "crisptree.as_rules(None)": f"a CrispTree is shown, not NoneType; {A_TREE}",
    "crisptree.as_text(tree, decimals='2')": "decimals is '2'; it must lie in 0 … 17",
    "tree.as_html(decimals=-1)": "decimals is -1; it must lie in 0 … 17",
    "crisptree.evaluate(tree, episodes='3')": "episodes must be a whole number, not '3'",
    "crisptree.evaluate(tree, episodes=0)": "episodes must be at least 1, not 0",
    "crisptree.evaluate(tree, seed=0.5)": "seed must be a whole number, not 0.5",
    "crisptree.evaluate(tree, max_steps=0)": "max_steps must be at least 1, not 0",
    "tree.report('x.docx')": "out is x.docx; it must end in .html or .pdf",
    "tree.report(3)": "out is the path of a file, not int",
    "tree.report(episodes='x')": "episodes is 'x'; it must lie in 0 … 100,000",
    "tree.report(properties='never')": "properties are a list, not one text: properties=[…]",
}
PROGRAM = """
import json, sys, crisptree
from crisptree import CrispTree, TreePolicy
FILE, *calls = sys.argv[1:]
tree = CrispTree.load(FILE)
for call in calls:
    try:
        eval(call)
    except crisptree.CrisptreeError as error:
        print(json.dumps([call, str(error)]))
"""


@pytest.fixture(scope="module")
def answers() -> dict[str, str]:
    words = [sys.executable, "-c", PROGRAM, FILE, *CALLS]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return dict(map(json.loads, done.stdout.splitlines()))


@pytest.mark.parametrize("call", CALLS)
def test_says_what_would_be_right(call, answers):
    assert answers[call] == CALLS[call]


def test_a_report_is_written_where_a_file_is_named(tmp_path):
    out = tmp_path / "report.html"
    page = CrispTree.load(FILE).report(out, episodes=0, exports=["python"])
    assert out.read_text(encoding="utf-8") == page
