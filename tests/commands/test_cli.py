"""What every command has in common."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from crisptree import cli

POLICY = Path(__file__).parents[2] / "policies" / "cartpole-tree-4.json"


@pytest.mark.parametrize(
    ("asked", "same"), [(["help"], ["--help"]), (["help", "show"], ["show", "--help"])]
)
def test_help_is_a_word_too(asked, same, capsys):
    shown = []
    for words in (asked, same):
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        assert ended.value.code == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["show", str(POLICY)], ["--help"], ["show", "--help"]])
def test_a_full_disk_behind_standard_output_is_one_line(arguments, unbuffered):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "crisptree", *arguments],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr == "crisptree: cannot go on: No space left on device\n"


def test_what_the_system_refuses_is_one_line(monkeypatch, capsys):
    def refuse(name: str, rest: list[str]) -> None:
        raise PermissionError(13, "Permission denied", "/somewhere")

    monkeypatch.setattr(cli, "run", refuse)
    with pytest.raises(SystemExit) as stop:
        cli.main(["show"])
    assert stop.value.code == 2
    assert capsys.readouterr().err == "crisptree: cannot go on: /somewhere: Permission denied\n"


def test_too_little_memory_is_one_line(monkeypatch, capsys):
    def refuse(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(cli, "run", refuse)
    with pytest.raises(SystemExit) as stopped:
        cli.main(["show", "p.json"])
    assert stopped.value.code == 2
    assert capsys.readouterr().err == "crisptree: this takes more memory than there is\n"


@pytest.mark.parametrize(
    "words, said",
    [
        (["trian"], "unknown command 'trian'; did you mean train?"),
        (["--hlep"], "unknown option '--hlep'; crisptree --help lists the commands"),
        (["completion", "tcsh"], "SHELL cannot be 'tcsh'; it may be bash, zsh, fish;"),
    ],
)
def test_a_wrong_word_is_named_with_what_would_be_right(words, said, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(f"crisptree: {said}")
