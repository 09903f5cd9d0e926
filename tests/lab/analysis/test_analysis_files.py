import csv
import importlib.util
import io
import json

import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.lab.analysis.analysis_files import (
    NAMES,
    curves_csv,
    prepare_directory,
    write_directory,
)
from crisptree.lab.analysis.chain_analysis import as_json


@pytest.fixture(autouse=True)
def quick_figures(monkeypatch):
    drawn = [(name, name.encode()) for name in NAMES if name[-3:] in ("svg", "png")]
    monkeypatch.setattr(
        "crisptree.lab.analysis.analysis_figures.draw", lambda analysis: iter(drawn)
    )


def test_everything_is_written_and_may_be_renewed(papers, tmp_path):
    directory = tmp_path / "deep" / "analysis"
    prepare_directory(directory)
    written = write_directory(papers, as_json(papers), directory)
    assert sorted(path.name for path in directory.iterdir()) == sorted(NAMES)
    assert written == [directory / name for name in NAMES]
    contents = {path.name: path.read_bytes() for path in written}
    (directory / "notes.txt").write_text("mine")
    prepare_directory(directory)
    write_directory(papers, as_json(papers), directory)
    assert {path.name: path.read_bytes() for path in written} == contents
    assert (directory / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("content", [None, "not JSON", "[1]", '{"format": "other"}'])
def test_files_of_something_else_are_left_alone(tmp_path, content):
    (tmp_path / "updates.svg").write_text("mine")
    if content is not None:
        (tmp_path / "analysis.json").write_text(content)
    with pytest.raises(CrisptreeError, match="which no analysis wrote"):
        prepare_directory(tmp_path)
    assert (tmp_path / "updates.svg").read_text() == "mine"


def test_other_files_in_the_directory_do_no_harm(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    prepare_directory(tmp_path)


def test_a_file_is_no_directory(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CrisptreeError, match="is a file; --out takes a directory"):
        prepare_directory(tmp_path / "file")
    with pytest.raises(CrisptreeError, match="cannot make the directory"):
        prepare_directory(tmp_path / "file" / "below")


def test_without_matplotlib_one_line_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CrisptreeError, match=r"pip install 'crisptree\[plot\]'"):
        prepare_directory(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_json_is_the_report(papers, tmp_path):
    write_directory(papers, as_json(papers), tmp_path)
    assert json.loads((tmp_path / "analysis.json").read_text())["setting"]["n"] == 4


def test_curves_as_a_table(papers):
    rows = list(csv.DictReader(io.StringIO(curves_csv(papers))))
    assert {row["terminal"] for row in rows if row["method"] == "policy-gradient"} == {""}
    assert {row["terminal"] for row in rows} == {
        "",
        *(curve.terminal.name for curve in papers.q_learning if curve.terminal),
    }
    heights = [float(row["optimality"]) for row in rows]
    assert (min(heights), max(heights)) == (0, 1)
    assert all(0 <= float(row["phi"]) <= 5 for row in rows)
