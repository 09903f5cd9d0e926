import io
import time

import nbclient
import nbformat

from crisptree.pipeline.progress import Bars, Lines, Prefixed, reporter


def test_a_pipe_gets_a_line_for_each_note():
    out = io.StringIO()
    report = Lines(out.write, every=1e9)
    report.advance("direct", 0.5, "return 3")
    report.note("  direct done")
    assert out.getvalue() == "  direct done\n"


def test_a_pipe_hears_a_heartbeat_while_a_stage_takes_long():
    out = io.StringIO()
    report = Lines(out.write, every=0.0)
    report.advance("direct", 0.5, "return 3")
    assert out.getvalue() == "  … direct 50% return 3\n"


def test_candidates_are_told_apart():
    out = io.StringIO()
    report = Prefixed(Lines(out.write, every=0.0), "1-mlp")
    report.note("search")
    report.advance("search", 1.0, "")
    assert out.getvalue() == "  1-mlp   search\n  … 1-mlp/search 100%\n"


def test_results_have_standard_output_to_themselves(capsys):
    with reporter() as report:
        report.note("a line")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "a line\n")


def test_the_heart_beats_while_nobody_calls():
    out = io.StringIO()
    with Lines(out.write, every=0.05).beating() as report:
        report.advance("direct", 0.5, "return 3")
        time.sleep(0.5)
    assert out.getvalue().startswith("  … direct 50% return 3\n")
    assert len(out.getvalue().splitlines()) > 2


class Tasks:
    """What rich does with bars."""

    def __init__(self) -> None:
        self.shown: dict[int, str] = {}
        self.made = 0

    def add_task(self, name, **_):
        self.made += 1
        self.shown[self.made] = name
        return self.made

    def remove_task(self, bar):
        del self.shown[bar]

    def update(self, bar, **_):
        assert bar in self.shown


def test_one_bar_for_each_candidate_and_none_once_they_are_over():
    tasks = Tasks()
    bars = Bars(tasks)
    for stage in ("seed 0/0-mlp/distill", "seed 0/1-direct/direct", "seed 0/0-mlp/search"):
        bars.advance(stage, 0.5, "")
    assert set(tasks.shown.values()) == {"seed 0/1-direct/direct", "seed 0/0-mlp/search"}
    bars.advance("seed 0/scoring", 0.0, "")
    assert list(tasks.shown.values()) == ["seed 0/scoring"]


def test_a_notebook_shows_each_line_once_and_no_warning():
    """Bars need ipywidgets there; without them, lines come as in a pipe."""
    code = """
from crisptree.pipeline.progress import reporter
with reporter() as report:
    report.advance("direct", 0.5, "return 3")
    report.note("a line that stays")
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(notebook, timeout=60).execute()
    said = str(notebook.cells[0].outputs)
    assert "a line that stays" in said
    assert "ipywidgets" not in said and "stderr" not in said
