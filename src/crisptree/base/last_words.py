"""What is said when a process ends without coming back: by a crash in C, os._exit or a signal."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

SHELL = 'read bye || printf "%s\\n" "$0" >&2'
"""Waits for a line; where the pipe ends without one, its other end is gone."""


@contextmanager
def last_words(line: str) -> Iterator[None]:
    """`line` goes to standard error if the process ends in here; not if something is raised."""
    try:
        waiting = subprocess.Popen(
            ["sh", "-c", SHELL, line],
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is not for it
        )
    except OSError:  # no shell, or no more processes: then nothing is said
        yield
        return
    try:
        yield
    finally:
        waiting.communicate(b"bye\n")
