"""Runs the command lines of the documentation, small.

Commands of crisptree run in this process, with the numbers that decide how long they take made
smaller. Other programs run in a shell. What would change the machine, or wants a reader, is checked
by other means.
"""

import contextlib
import io
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pages import ROOT

from crisptree import cli

MOST = {
    "--steps": 2_000,
    "--episodes": 20,
    "--leaves": 4,
    "--rules": 3,
    "--candidates.count": 1,
    "--seeds": 2,
    "--studies": 20,
    "--seconds": 20,
}
PLACEHOLDERS = {
    r"\bENV\b": "CartPole-v1",
    r'"…"': '"never push left when pole angle > 0.1 and pole angular velocity > 0"',
    r"(?<!\S)…": "policies/cartpole-tree-4.json policies/cartpole-list-3.json",
}
ALSO = {"analyze": ("--steps", "200"), "report": ("--exports", "python")}
ANSWER_WITH_1 = ("compare", "verify")
"""Where 1 says that two policies differ, or that a property fails."""
NEEDS_THE_GAME = "StarCraftZerglings"


@dataclass(frozen=True)
class Shell:
    """Command lines in one folder."""

    folder: Path
    left_out: tuple[str, ...] = ()
    """Flags that are not passed on."""

    def run(self, line: str) -> str:
        """What the line printed; an AssertionError if it failed."""
        for what, instead in PLACEHOLDERS.items():
            line = re.sub(what, instead, line)
        words = shlex.split(line)
        if words[0] == "crisptree":
            printed, code = self._crisptree(words[1:])
        else:
            printed, code = OTHERS[words[0]](words, self.folder)
        fine = (0, 1) if set(words[:2]) & set(ANSWER_WITH_1) else (0,)
        assert code in fine, f"{line} ended with {code}: {printed}"
        return printed

    def _crisptree(self, arguments: list[str]) -> tuple[str, int]:
        if NEEDS_THE_GAME in " ".join(arguments):
            return "", 0
        if arguments[:2] == ["study", "serve"]:
            return served(arguments, self.folder)
        kept = [word for word in arguments if word not in self.left_out]
        return called(smaller(kept))


def smaller(arguments: list[str]) -> list[str]:
    """The same command with less to do: trainings of few steps, whatever time they were given."""
    found = list(arguments)
    if arguments[0] in ("train", "distill") and "--resume" not in arguments:
        found = [word for word in without(found, "--budget") if word != "--quick"]
        found += [] if "--steps" in found else ["--steps", str(MOST["--steps"])]
    arguments = list(found)
    for at, (flag, value) in enumerate(pairwise(arguments), 1):
        if flag in MOST and value.isdigit():
            found[at] = str(min(int(value), MOST[flag]))
    also = ALSO.get(arguments[0], ())
    return found + list(also if not set(also) & set(arguments) else ())


def without(arguments: list[str], flag: str) -> list[str]:
    at = arguments.index(flag) if flag in arguments else len(arguments)
    return arguments[:at] + arguments[at + 2 :]


def called(arguments: list[str]) -> tuple[str, int]:
    """In this process, in the current folder."""
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    code = 0
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            cli.main(arguments)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    printed.seek(0)
    return printed.read(), code


def served(arguments: list[str], folder: Path) -> tuple[str, int]:
    """A server runs until it is stopped: it is, once it said where it listens."""
    command = [sys.executable, "-m", "crisptree.cli", *without(arguments, "--port"), "--port", "0"]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    printed = ""
    for line in process.stdout:
        printed += line
        if "http" in line:
            break
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    return printed, 0 if "http" in printed else 1


def in_a_shell(words: list[str], folder: Path) -> tuple[str, int]:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    return done.stdout + done.stderr, done.returncode


def extras_exist(words: list[str], folder: Path) -> tuple[str, int]:
    """`pip install '.[a,b]'`: nothing is installed, but the extras must be there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = re.findall(r"\[([^\]]*)\]", " ".join(words))
    names = {name for group in wanted for name in group.split(",")}
    missing = names - set(project["optional-dependencies"])
    return f"no extras {missing}", int(bool(missing))


def target_exists(words: list[str], folder: Path) -> tuple[str, int]:
    rules = (ROOT / "Makefile").read_text()
    missing = [word for word in words[1:] if not re.search(rf"^{word}:", rules, re.MULTILINE)]
    return f"no targets {missing}", int(bool(missing))


def script_exists(words: list[str], folder: Path) -> tuple[str, int]:
    return f"no {words[1]}", int(not (ROOT / words[1]).exists())


def folder_exists(words: list[str], folder: Path) -> tuple[str, int]:
    """`tensorboard --logdir DIR` would wait for a reader."""
    return f"no {words[2]}", int(not any((folder / words[2]).rglob("events.*")))


OTHERS: dict[str, Callable[[list[str], Path], tuple[str, int]]] = {
    "cc": in_a_shell,
    "./self-test": in_a_shell,
    "pip": extras_exist,
    "make": target_exists,
    "python": script_exists,
    "tensorboard": folder_exists,
    "export": lambda words, folder: ("", 0),
}
