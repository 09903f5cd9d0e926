"""Telling the person what is going on: bars on a terminal, or a small file for a parent process."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, runtime_checkable

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from crisptree.base.files import write_atomically


@runtime_checkable
class Reporter(Protocol):
    def advance(self, stage: str, done: float, text: str) -> None:
        """`stage` is `done` (0 to 1) of its way; `text` is its latest figures."""
        ...

    def note(self, text: str) -> None:
        """One line that stays."""
        ...


class Silent:
    def advance(self, stage: str, done: float, text: str) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""


class Terminal:
    """One bar for the current stage; finished stages leave a line. Goes to standard error."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._task, self._stage = progress, None, ""

    def advance(self, stage: str, done: float, text: str) -> None:
        if stage != self._stage or self._task is None:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._stage, self._task = stage, self._progress.add_task(stage, total=1.0, text="")
        self._progress.update(self._task, completed=done, text=text)

    def note(self, text: str) -> None:
        self._progress.console.print(text, highlight=False)


@contextmanager
def terminal() -> Iterator[Terminal]:
    with bars() as progress:
        yield Terminal(progress)


def bars() -> Progress:
    return Progress(
        TextColumn("{task.description:<28}"),
        BarColumn(bar_width=28),
        TextColumn("{task.fields[text]}"),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True, soft_wrap=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


class StatusFile:
    """The same for a worker process: its parent reads the file."""

    def __init__(self, path: Path, every: float = 0.5) -> None:
        self._path, self._every, self._last = path, every, 0.0

    def advance(self, stage: str, done: float, text: str) -> None:
        if time.monotonic() - self._last < self._every:
            return
        self._last = time.monotonic()
        status = {"stage": stage, "done": done, "text": text}
        write_atomically(self._path, json.dumps(status))

    def note(self, text: str) -> None:
        print(text, flush=True)
