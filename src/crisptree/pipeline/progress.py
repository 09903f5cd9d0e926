"""Reports progress: on a terminal, in a pipe or a notebook, or to a parent process."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Protocol, runtime_checkable

HEARTBEAT = 30.0
"""Seconds without output after which a line says that work goes on."""


@runtime_checkable
class Reporter(Protocol):
    def advance(self, stage: str, done: float, text: str) -> None:
        """`stage` has done a share (0 to 1) of its work; `text` are its latest figures."""
        ...

    def note(self, text: str) -> None:
        """One line that stays."""
        ...


class Silent:
    def advance(self, stage: str, done: float, text: str) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""


class Bars:
    """A live bar for each running stage; finished stages leave a line (terminals, notebooks)."""

    def __init__(self, progress: Any) -> None:
        self._progress = progress
        self._bars: dict[str, tuple[Any, str]] = {}

    def advance(self, stage: str, done: float, text: str) -> None:
        run, _, name = stage.rpartition("/")
        for ended in [each for each in self._bars if each != run and _is_within(each, run)]:
            # The whole run reports only after its candidates are over.
            self._progress.remove_task(self._bars.pop(ended)[0])
        bar, shown = self._bars.get(run, (None, ""))
        if bar is None or shown != name:
            if bar is not None:
                self._progress.remove_task(bar)
            bar = self._progress.add_task(stage, total=1.0, text="")
            self._bars[run] = bar, name
        self._progress.update(bar, completed=done, text=text)

    def note(self, text: str) -> None:
        self._progress.console.print(text, highlight=False, markup=False)


def _is_within(name: str, run: str) -> bool:
    return not run or name.startswith(f"{run}/")


class Lines:
    """A line for each finished stage, and a heartbeat while one takes long (pipes and files)."""

    def __init__(self, write: Callable[[str], Any], every: float = HEARTBEAT) -> None:
        self._write, self._every = write, every
        self._last, self._latest = time.monotonic(), "preparing"
        self._lock = threading.Lock()

    def advance(self, stage: str, done: float, text: str) -> None:
        self._latest = f"{stage} {done:.0%} {text}".rstrip()
        self.beat()

    def beat(self) -> None:
        """Print that work goes on, if nothing was printed for a while."""
        if time.monotonic() - self._last >= self._every:
            self.note(f"  … {self._latest}")

    def note(self, text: str) -> None:
        with self._lock:
            self._last = time.monotonic()
            self._write(text + "\n")

    @contextmanager
    def beating(self) -> Iterator["Lines"]:
        """A thread that prints while nobody calls, since compiling and slow steps say nothing for
        long."""
        is_over = threading.Event()

        def beat() -> None:
            while not is_over.wait(min(1.0, self._every)):
                self.beat()

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            is_over.set()
            thread.join()


class Prefixed:
    """Reports under the name of one candidate or seed."""

    def __init__(self, report: Reporter, name: str) -> None:
        self._report, self._name = report, name

    def advance(self, stage: str, done: float, text: str) -> None:
        self._report.advance(f"{self._name}/{stage}", done, text)

    def note(self, text: str) -> None:
        self._report.note(f"  {self._name:<8}{text}")


@contextmanager
def reporter() -> Iterator[Reporter]:
    """A reporter with bars on a terminal or in a notebook that can draw them, and lines elsewhere;
    on standard error, but for notebooks, which show that as if something went wrong."""
    if sys.stderr.isatty() or _has_widgets():
        with bars() as progress:
            yield Bars(progress)
    else:
        stream = sys.stdout if _in_notebook() else sys.stderr

        def write(text: str) -> None:
            stream.write(text)
            stream.flush()

        with Lines(write).beating() as lines:
            yield lines


def bars() -> Any:
    """Progress bars on standard error; none where that is not a terminal, or rich is missing."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        return NoBars()
    notebook = _has_widgets()
    return Progress(
        TextColumn("{task.description:<28}"),
        BarColumn(bar_width=28),
        TextColumn("{task.fields[text]}"),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=not notebook, soft_wrap=True),
        transient=True,
        disable=not (notebook or sys.stderr.isatty()),
    )


class NoBars:
    """What stands in for bars where rich is not installed."""

    def __enter__(self) -> "NoBars":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to end."""

    def add_task(self, *_: object, **__: object) -> int:
        return 0

    def update(self, *_: object, **__: object) -> None:
        """Nothing to draw."""


def _has_widgets() -> bool:
    """Whether this is a notebook in which rich can draw bars."""
    return _in_notebook() and find_spec("ipywidgets") is not None


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    return type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
