"""A command as a user gives it, in this process, and what is wrong with its answer."""

import contextlib
import io
import json
import traceback
from typing import NamedTuple

from crisptree import cli


class Said(NamedTuple):
    code: int | str
    out: str
    err: str


def command(*arguments: str) -> Said:
    """The exit code and what was printed; whatever else ends the command is its exit code."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    code: int | str = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            cli.main(list(arguments))
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else str(stop.code)
        except BaseException:
            code = traceback.format_exc()
    return Said(code, *(file.buffer.getvalue().decode() for file in (out, err)))  # pyright: ignore


def fault(said: Said, *, refused: bool = False) -> str | None:
    """What is wrong with an answer, or None: it must be an answer (unless it is to be `refused`),
    or one printable line on standard error and the exit code 2."""
    if said.code in (0, 1, 3) and not refused:  # 3: a property that is undecided
        return None
    if said.code != 2:
        return f"it ended with {said.code}"
    line = said.err.splitlines()[-1] if said.err else ""
    if not line.startswith("crisptree: ") or not line.isprintable():
        return f"no clear line: {said.err[-300:]!r}"
    if "Traceback" in said.err:
        return f"a traceback: {said.err[-300:]!r}"
    return None


def strict_json(text: str) -> object:
    """What JSON says; NaN and infinities, which Python writes unless told not to, are refused."""

    def refuse(word: str) -> object:
        raise ValueError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)
