"""Calls from Python that cannot be meant are answered in a line that says what would be right."""

from pathlib import Path

import pytest

import crisptree
from crisptree import CrispTree, CrisptreeError, TreePolicy

FILE = str(Path(__file__).parents[2] / "policies" / "cartpole-tree-4.json")
TREE = CrispTree.load(FILE)
BY_KEYWORD = "takes the environment first and all settings by keyword"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: crisptree.train("CartPole-v1", 8),
            rf"^train {BY_KEYWORD}: train\(env, leaves=8\)",
        ),
        (lambda: TreePolicy("MlpPolicy", "CartPole-v1"), rf"^TreePolicy {BY_KEYWORD}"),
        (lambda: TreePolicy.load(3), r"path of its file or of a run, not by int$"),
        (lambda: CrispTree.load(None), r"path of its file or of a run, not by NoneType$"),
        (lambda: TREE.save(3), r"path of its file or of a run, not by int$"),
        (lambda: crisptree.as_text(FILE), r"not str; CrispTree\.load\(path\) reads one"),
        (lambda: crisptree.as_svg(FILE), r"not str; CrispTree\.load\(path\) reads one"),
        (lambda: crisptree.as_html(FILE), r"not str; CrispTree\.load\(path\) reads one"),
        (lambda: crisptree.as_rules(None), r"not NoneType; CrispTree\.load\(path\) reads one"),
        (
            lambda: crisptree.as_text(TREE, decimals="2"),
            r"^decimals is '2'; it must lie in 0 … 17$",
        ),
        (lambda: crisptree.as_html(TREE, decimals=-1), r"^decimals is -1; it must lie in 0 … 17$"),
        (lambda: crisptree.evaluate(TREE, episodes="3"), r"^episodes must be a whole number"),
        (lambda: crisptree.evaluate(TREE, seed=0.5), r"^seed must be a whole number, not 0\.5$"),
        (lambda: crisptree.evaluate(TREE, max_steps=0), r"^max_steps must be at least 1, not 0$"),
        (lambda: TREE.report("x.docx"), r"^out is x\.docx; it must end in \.html or \.pdf$"),
        (lambda: TREE.report(3), r"^out is the path of a file, not int$"),
        (lambda: TREE.report(episode=3), r"^report takes no 'episode'"),
        (lambda: TREE.report(episodes="x"), r"^episodes is 'x'; it must lie in 0 … 100,000$"),
        (lambda: TREE.report(properties="never"), r"^properties are a list, not one text"),
    ],
)
def test_says_what_would_be_right(call, said):
    with pytest.raises(CrisptreeError, match=said):
        call()


def test_a_report_is_written_where_a_file_is_named(tmp_path):
    page = TREE.report(tmp_path / "report.html", episodes=0, exports=["python"])
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
