"""A disk that is full: one line, what was there before stays whole, and later it goes on."""

import json
import shutil
from pathlib import Path

import pytest
from processes import one_line, run, training
from runs import read, timeless

KIND = "commands on a full disk"
POLICY = Path(__file__).parent / "corpus" / "policies" / "tree.json"
COMMANDS = (
    ["show", "p.json", "--out", "out.svg"],
    ["show", "p.json", "--as", "html", "--no-replay", "--out", "out.html"],
    ["export", "p.json", "--to", "c", "--out", "out.c", "--unchecked"],
    ["export", "p.json", "--to", "python", "--out", "out.py", "--unchecked"],
    ["export", "p.json", "--to", "csv", "--out", "out.csv", "--unchecked"],
    ["export", "p.json", "--to", "c", "--out", "out.c"],
    ["export", "p.json", "--to", "javascript", "--out", "out.mjs"],
    ["show", "p.json", "--out", "out.png"],
    ["report", "p.json", "--episodes", "3", "--out", "out.html"],
    ["study", "worksheet", "p.json", "--out", "out.svg"],
)
NEW = (
    ["analyze", "--out", "new"],
    ["study", "serve", "--policies", "p.json", "--port", "0", "--database", "new.db"],
    ["sweep", "CartPole-v1", "--models", "random", "--seeds", "1", "--out", "new"],
)
"""Commands that make a folder or a database."""
SIZES = (0, 50, 600)

pytestmark = pytest.mark.faults


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: " ".join(words[:5]))
def test_what_was_there_stays(command, size, tmp_path):
    shutil.copy(POLICY, tmp_path / "p.json")
    out = tmp_path / command[command.index("--out") + 1]
    out.write_text("what was there")
    done = run(command, tmp_path, most_bytes=size)
    assert one_line(done) or done.returncode == 0, done.stderr
    if done.returncode == 2:
        assert out.read_text() == "what was there"
        left = {path.name for path in tmp_path.iterdir()}
        assert not any(name.endswith(".tmp") for name in left)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("command", NEW, ids=lambda words: " ".join(words[:2]))
def test_nothing_new_has_room(command, size, tmp_path):
    shutil.copy(POLICY, tmp_path / "p.json")
    done = run(command, tmp_path, most_bytes=size, CRISPTREE_STUDY_SECRET="a secret for tests")
    assert one_line(done), done.stderr


@pytest.mark.parametrize("size", SIZES)
def test_standard_output(size, tmp_path):
    """`crisptree show … > FILE`. (Python itself drops what has no room if it is told not to
    buffer.)"""
    shutil.copy(POLICY, tmp_path / "p.json")
    show = ["show", "p.json", "--as", "svg"]
    with open(tmp_path / "out", "w") as out:
        done = run(show, tmp_path, most_bytes=size, out=out, PYTHONUNBUFFERED="")
    assert one_line(done), done.stderr


@pytest.mark.parametrize("size", [0, 200, 3_000, 8_000])
def test_a_training_goes_on_when_there_is_room_again(size, tmp_path):
    whole = run(training("--out", "whole"), tmp_path)
    assert whole.returncode == 0, whole.stderr[-2000:]
    done = run(training("--out", "run"), tmp_path, most_bytes=size)
    assert one_line(done), done.stderr[-2000:]
    for path in (tmp_path / "run").rglob("*.json"):
        json.loads(path.read_text())  # whole, or not there
    begun = (tmp_path / "run" / "config.json").exists()
    if not begun:
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
    again = run(training("--out", "run", *(["--resume"] if begun else [])), tmp_path)
    assert again.returncode == 0, again.stderr[-2000:]
    one, other = (timeless(read(tmp_path / name / "summary.json")) for name in ("run", "whole"))
    assert one == other
