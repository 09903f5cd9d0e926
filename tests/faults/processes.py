"""Commands as processes of their own: started, limited, killed; and who of them is left."""

import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from corpora import SMALL

MARK = "CRISPTREE_FAULT_MARK"
LIMITED = (
    "import resource, sys; most = int(sys.argv.pop(1));"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (most, most));"
    "from crisptree import cli; cli.main(sys.argv[1:])"
)
"""A command that can write no file longer than so many bytes, as on a disk that is full."""


def training(*options: str) -> list[str]:
    """A training of seconds."""
    return ["train", "CartPole-v1", "--config", str(SMALL), "--json", *options]


class Started:
    """A command that may be killed; its children carry the same mark."""

    def __init__(self, arguments: list[str], folder: Path) -> None:
        self._mark = secrets.token_hex(8)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "crisptree", *arguments],
            cwd=folder,
            env={**os.environ, MARK: self._mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def left(self, seconds: float = 20.0) -> list[int]:
        """The processes that are there `seconds` after it ended; at best none, at once."""
        end = time.monotonic() + seconds
        while (found := self._marked()) and time.monotonic() < end:
            time.sleep(0.1)
        return found

    def _marked(self) -> list[int]:
        mark, found = f"{MARK}={self._mark}".encode(), []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                state = (path / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z" and mark in (path / "environ").read_bytes().split(b"\0"):
                    found.append(int(path.name))
            except OSError:
                continue
        return found


def run(
    arguments: list[str],
    folder: Path,
    *,
    most_bytes: int | None = None,
    out: Any = subprocess.PIPE,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    start: list[Any] = [sys.executable, "-m", "crisptree"]
    if most_bytes is not None:
        start = [sys.executable, "-c", LIMITED, str(most_bytes)]
    return subprocess.run(
        [*start, *arguments],
        cwd=folder,
        env={**os.environ, **variables},
        stdout=out,
        stderr=subprocess.PIPE,
        text=True,
        timeout=900,
    )


def one_line(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether a command was refused in one clear line."""
    lines = done.stderr.splitlines()
    return (
        done.returncode == 2
        and lines[-1].startswith("crisptree: ")
        and ("Traceback" not in done.stderr)
    )
