"""Damaged policy files: every command that reads one answers, or refuses in one line."""

from itertools import cycle
from pathlib import Path
from random import Random

import pytest
from command_line import Said, command, fault, strict_json
from corpora import POLICIES
from damage import damaged

KIND = "commands on damaged policy files"
FILES = 240
EACH = 10
"""Commands on each file; they take turns."""
COMMANDS = (
    ["show", "p.json"],
    ["show", "p.json", "--as", "rules"],
    ["show", "p.json", "--as", "svg"],
    ["show", "p.json", "--as", "html", "--no-replay"],
    ["show", "p.json", "--as", "dot"],
    ["show", "p.json", "--as", "mermaid"],
    ["show", "p.json", "--as", "markdown"],
    ["explain", "p.json", "--at", "0", "0", "0", "0"],
    ["explain", "p.json", "--at", "0", "0", "0"],
    ["compare", "p.json", "p.json", "--episodes", "0"],
    ["evaluate", "p.json", "--episodes", "1", "--max-steps", "50", "--json"],
    ["verify", "p.json", "--property", "never 0", "--seconds", "1"],
    ["export", "p.json", "--to", "python", "--out", "o.py", "--unchecked"],
    ["export", "p.json", "--to", "c", "--out", "o.c", "--unchecked"],
    ["export", "p.json", "--to", "c-fixed", "--out", "f.c", "--unchecked"],
    ["export", "p.json", "--to", "rust", "--out", "o.rs", "--unchecked"],
    ["export", "p.json", "--to", "javascript", "--out", "o.mjs", "--unchecked"],
    ["export", "p.json", "--to", "st", "--out", "o.st", "--unchecked"],
    ["export", "p.json", "--to", "plcopen", "--out", "o.xml", "--unchecked"],
    ["export", "p.json", "--to", "sql", "--out", "o.sql", "--unchecked"],
    ["export", "p.json", "--to", "csv", "--out", "o.csv", "--unchecked"],
    ["export", "p.json", "--to", "onnx", "--out", "o.onnx", "--unchecked"],
    ["export", "p.json", "--to", "c-fixed16", "--out", "f16.c", "--unchecked"],
    ["export", "p.json", "--to", "sklearn", "--out", "o.joblib", "--unchecked"],
    ["export", "p.json", "--to", "markdown", "--out", "o.md", "--unchecked"],
    ["export", "p.json", "--to", "python", "--out", "o.py", "--json"],
    ["verify", "p.json", "--leaves", "--json"],
    ["verify", "p.json", "--about", "0 0 0 0", "--json"],
    ["verify", "p.json", "--domain", "pole angle in -1 .. 1", "--json"],
    ["verify", "p.json", "--vectors", "v.csv", "--floats", "32", "--json"],
    ["verify", "p.json", "--along", "1", "--json"],
    ["verify", "p.json", "--property", "symmetric under -x", "--seconds", "1", "--json"],
    ["verify", "p.json", "--property", "|torque| <= 1", "--seconds", "1", "--json"],
    ["verify", "p.json", "--property", "from reset stays up for 3 steps", "--seconds", "1"],
    ["report", "p.json", "--episodes", "1", "--exports", "none", "--out", "r.html"],
    ["report", "p.json", "--episodes", "0", "--exports", "python,csv,sql,st", "--out", "r.html"],
    ["explain", "p.json", "--at", "0", "0", "0", "0", "--json"],
    ["study", "worksheet", "p.json", "--out", "o.svg"],
)

pytestmark = pytest.mark.faults


@pytest.fixture(autouse=True)
def a_trap(tmp_path, monkeypatch) -> Path:
    """The working folder, with a module that leaves a file behind when it is imported."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evilmod.py").write_text("open('imported', 'w').close()")
    return tmp_path


def wrong(said: Said, arguments: list[str]) -> str | None:
    """What is wrong with an answer; JSON must be JSON."""
    why = fault(said)
    if why is None and "--json" in arguments and said.code != 2:
        try:
            strict_json(said.out)
        except ValueError as error:
            return f"{error}: {said.out[:200]}"
    return why


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_whole_files(path, cases, a_trap):
    (a_trap / "p.json").write_bytes(path.read_bytes())
    failures = [(each, why) for each in COMMANDS if (why := wrong(command(*each), each))]
    cases(len(COMMANDS), failures)


@pytest.mark.filterwarnings("ignore")  # gymnasium warns of odd ids
@pytest.mark.parametrize("part", range(4))
def test_damaged_files(part, cases, a_trap):
    turns, failures, tried = cycle(COMMANDS), [], 0
    for number in range(part, FILES, 4):
        rng = Random(number)
        (a_trap / "p.json").write_bytes(damaged(rng.choice(POLICIES).read_bytes(), rng))
        for _ in range(EACH):
            each = next(turns)
            tried += 1
            if why := wrong(command(*each), each):
                failures.append((number, each, why))
    assert not (a_trap / "imported").exists()
    cases(tried, failures)
