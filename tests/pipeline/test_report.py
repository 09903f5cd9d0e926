import io
import json

from rich.console import Console
from rich.progress import Progress, TextColumn

from crisptree.pipeline.report import Reporter, Silent, StatusFile, Terminal, bars, terminal


def test_a_terminal_shows_one_bar_and_keeps_the_notes():
    said = io.StringIO()
    columns = (TextColumn("{task.description}"), TextColumn("{task.fields[text]}"))
    with Progress(*columns, console=Console(file=said), auto_refresh=False) as progress:
        tell = Terminal(progress)
        tell.advance("direct", 0.25, "return 3")
        tell.advance("direct", 0.5, "return 4")
        assert [(t.description, t.completed, t.fields["text"]) for t in progress.tasks] == [
            ("direct", 0.5, "return 4")
        ]
        tell.note("  direct   12 leaves [0]")
        tell.advance("prune", 0.0, "from 12")
        assert [task.description for task in progress.tasks] == ["prune"]
    assert "  direct   12 leaves [0]" in said.getvalue()


def test_bars_and_notes_go_to_standard_error(capsys):
    """Standard output is for the result alone; without a terminal there are no bars."""
    with terminal() as tell:
        tell.advance("direct", 0.5, "return 3")
        tell.note("a line that stays")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "a line that stays\n"
    assert bars().disable


def test_silence(capsys):
    Silent().advance("a", 0.5, "b")
    Silent().note("c")
    assert capsys.readouterr() == ("", "")


def test_a_worker_writes_its_state_now_and_then(tmp_path, capsys):
    path = tmp_path / "status.json"
    tell = StatusFile(path, every=0.0)
    tell.advance("direct", 0.25, "return 3")
    tell.advance("direct", 0.5, "return 4")
    assert json.loads(path.read_text()) == {"stage": "direct", "done": 0.5, "text": "return 4"}
    tell.note("a line")
    assert capsys.readouterr().out == "a line\n"

    seldom = StatusFile(path, every=3600.0)
    seldom.advance("prune", 0.1, "now")
    seldom.advance("prune", 0.2, "not yet")
    assert json.loads(path.read_text())["text"] == "now"


def test_each_is_a_reporter(tmp_path):
    for each in (Silent(), StatusFile(tmp_path / "a"), Terminal(bars())):
        assert isinstance(each, Reporter)
