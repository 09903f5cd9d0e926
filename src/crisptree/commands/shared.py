"""What the commands that read a policy have in common."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import read_text
from crisptree.base.last_words import last_words
from crisptree.base.text import printable

if TYPE_CHECKING:
    from crisptree.crisp import CrispTree

MOST = 4_096
MOST_COMPARISONS = 1_000_000


def loaded(path: str) -> "CrispTree":
    """The policy in a file or in the directory of a run.

    One that is too large for any command is refused: rules and drawings grow with the leaves times
    their depth.
    """
    from crisptree.crisp import CrispTree

    tree = CrispTree.load(path)
    for count, most, what in (
        (tree.n_leaves, MOST, "leaves"),
        (tree.n_features, MOST, "features"),
        (tree.n_actions, MOST, "actions"),
        (_comparisons(tree), MOST_COMPARISONS, "comparisons in its rules"),
    ):
        if count > most:
            raise CrisptreeError(
                f"{path} has {count:,} {what}; this command takes policies of at most {most:,}"
            )
    return tree


def _comparisons(tree: "CrispTree") -> int:
    """The depths of all leaves together."""
    from crisptree.crisp.walk import depths

    pairs = zip(depths(tree.nodes), tree.nodes, strict=True)
    return sum(depth for depth, row in pairs if row[0] < 0)


def write_and_say(path: str | Path, content: str | bytes) -> None:
    """Write a file, whole or not at all, and say so."""
    from crisptree.base.files import write_atomically

    write_atomically(path, content)
    print(f"wrote {printable(str(path))}")


def lines_of(path: Path) -> list[str]:
    """The lines of a file of properties, without empty ones and comments, which start with #."""
    try:
        lines = read_text(path).splitlines()
    except (OSError, ValueError) as error:
        raise CrisptreeError(f"cannot read the properties in {path}: {error}") from None
    return [line for line in map(str.strip, lines) if line and not line.startswith("#")]


@contextmanager
def playing(env: str | None) -> Iterator[None]:
    """For all that plays an environment. If it ends the process, a last line names it. What its
    libraries in C print goes to standard error, since standard output may carry JSON."""
    name = "the policy's own" if env is None else f"'{printable(env)}'"
    line = (
        f"crisptree: the process ended while the environment {name} was at work: it was killed, or "
        "the environment crashed or called os._exit"
    )
    with last_words(line), _printing_to_stderr(), _uncaught_in_one_line(name):
        yield


@contextmanager
def _uncaught_in_one_line(name: str) -> Iterator[None]:
    """What an environment raises in a thread of its own or in `__del__` reaches nobody; Python
    would print a traceback of it."""
    from crisptree.envs.guard import reason

    def say(raised: Any) -> None:
        if issubclass(raised.exc_type, KeyboardInterrupt):
            before(raised)  # Ctrl-C is the user's, and raised again
            return
        why = reason(raised.exc_value or raised.exc_type())
        print(f"the environment {name} raised where nobody waits: {why}", file=sys.stderr)

    before, in_threads = sys.unraisablehook, threading.excepthook
    sys.unraisablehook = threading.excepthook = say
    try:
        yield
    finally:
        sys.unraisablehook, threading.excepthook = before, in_threads


@contextmanager
def _printing_to_stderr() -> Iterator[None]:
    """In here, the file descriptor of standard output is that of standard error."""
    sys.stdout.flush()
    try:
        before = os.dup(1)
    except OSError:  # it is closed
        yield
        return
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(before, 1)
        os.close(before)


def show_count(done: int, episodes: int) -> None:
    """Show how many episodes were played, in a line of the terminal that is gone at the end."""
    if sys.stderr.isatty():
        line = f"played {done:,} of {episodes:,} episodes" if done < episodes else ""
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
