"""Runs the command lines of the documentation, small.

Commands of crisptree run in this process, with the numbers that decide how long they take made
smaller; a training that another page asked for already is copied. Other programs run in a shell.
What would change the machine, or wants a reader, is checked by other means.
"""

import contextlib
import io
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from pages import ROOT

from crisptree import cli

MOST = {
    "--steps": 2_000,
    "--episodes": 3,
    "--leaves": 4,
    "--rules": 3,
    "--starts": 1,
    "--seeds": 2,
    "--studies": 20,
    "--seconds": 20,
}
PLACEHOLDERS = {
    r"\bENV\b": "CartPole-v1",
    r'"…"': '"never push left when pole angle > 0.1 and pole angular velocity > 0"',
    r"(?<!\S)…": "policies/cartpole-tree-4.json",
}
DIFFERENT_IS_1 = ("compare",)
NEEDS_THE_GAME = "StarCraftZerglings"


@dataclass
class Shell:
    """Command lines in one folder; trainings are shared with the shells of other pages."""

    folder: Path
    trainings: dict[tuple[str, ...], Path] = field(default_factory=dict)

    def run(self, line: str) -> str:
        """What the line printed; an AssertionError if it failed."""
        for what, instead in PLACEHOLDERS.items():
            line = re.sub(what, instead, line)
        line, may_fail = line.removesuffix("|| true").strip(), line.endswith("|| true")
        words = shlex.split(line)
        if words[0] == "crisptree":
            printed, code = self._crisptree(words[1:])
        else:
            printed, code = OTHERS[words[0]](words, self.folder)
        fine = (0, 1) if words[:1] == ["crisptree"] and words[1] in DIFFERENT_IS_1 else (0,)
        assert may_fail or code in fine, f"{line} ended with {code}: {printed}"
        return printed

    def _crisptree(self, arguments: list[str]) -> tuple[str, int]:
        if NEEDS_THE_GAME in " ".join(arguments):
            return "", 0
        if arguments[:2] == ["study", "serve"]:
            return served(arguments, self.folder)
        arguments = smaller(arguments)
        if arguments[0] not in ("train", "distill") or "--resume" in arguments:
            return called(arguments)
        asked = tuple(without(arguments, "--out"))
        out = out_of(arguments) or f"runs/{first_id(arguments).replace(':', '-')}"
        if asked in self.trainings and not (self.folder / out).exists():
            shutil.copytree(self.trainings[asked], self.folder / out)
            return "", 0
        result = called(arguments)
        self.trainings.setdefault(asked, self.folder / out)
        return result


def smaller(arguments: list[str]) -> list[str]:
    """The same command with less to do."""
    found = list(arguments)
    for at, (flag, value) in enumerate(pairwise(arguments), 1):
        if flag in MOST and value.isdigit():
            found[at] = str(min(int(value), MOST[flag]))
    return found


def without(arguments: list[str], flag: str) -> list[str]:
    at = arguments.index(flag) if flag in arguments else len(arguments)
    return arguments[:at] + arguments[at + 2 :]


def out_of(arguments: list[str]) -> str | None:
    return arguments[arguments.index("--out") + 1] if "--out" in arguments else None


def first_id(arguments: list[str]) -> str:
    return arguments[2] if arguments[0] == "distill" else arguments[1]


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
