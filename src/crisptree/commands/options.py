"""Options that may be left out: `--steps INT` in the help, not `--steps {None}|INT`.

`Optional[…]`, since tyro sees through it by itself; for `… | None` it imports a type checker first.
"""

# ruff: noqa: UP045
import contextlib
import inspect
import io
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Optional

import tyro

from crisptree.base.errors import CrisptreeError
from crisptree.commands.wrong_options import in_one_line

FORM = (tyro.conf.OmitArgPrefixes, tyro.conf.FlagCreatePairsOff)


def parsed(
    kind: Any, arguments: list[str], command: str, default: Any = None, form: Any = FORM
) -> Any:
    """The options as an object of `kind`; what is wrong with them is said in one line."""
    said, printed = io.StringIO(), _Captured()
    given = {} if default is None else {"default": default}
    try:
        with (
            contextlib.redirect_stderr(said),
            contextlib.redirect_stdout(printed),
            _sentences_in_one_piece(),
        ):
            return tyro.cli(kind, args=arguments, prog=f"crisptree {command}", config=form, **given)
    except SystemExit as stop:
        if stop.code in (None, 0):
            print(_wrapped(printed.text()), end="")
            raise
    raise CrisptreeError(
        f"{in_one_line(said.getvalue(), command)}; crisptree {command} --help says more"
    )


class _Captured(io.TextIOWrapper):
    """What is printed, in the colours and letters of where it will be shown."""

    def __init__(self) -> None:
        self._shown = sys.stdout
        super().__init__(io.BytesIO(), encoding=self._shown.encoding or "utf-8", errors="replace")

    def isatty(self) -> bool:
        return self._shown.isatty()

    def text(self) -> str:
        self.seek(0)
        return self.read()


def _wrapped(text: str) -> str:
    """The help with its paragraphs in lines that fit; tyro does so in its boxes only."""
    wrapper = textwrap.TextWrapper(
        shutil.get_terminal_size().columns, break_long_words=False, break_on_hyphens=False
    )
    lines = [line if line[:1] in " ╭│╰" else wrapper.fill(line) for line in text.split("\n")]
    return "\n".join(lines)


@contextlib.contextmanager
def _sentences_in_one_piece() -> Iterator[None]:
    """Docstrings without the indent of their lines: tyro would take each for a new paragraph."""
    from tyro import _strings

    joined = getattr(_strings, "remove_single_line_breaks", None)
    if joined is None:  # a tyro that does it otherwise
        yield
        return
    _strings.remove_single_line_breaks = lambda text: joined(inspect.cleandoc(text))
    try:
        yield
    finally:
        _strings.remove_single_line_breaks = joined


def optional(metavar: str, name: str | None = None) -> Any:
    """How an option is shown whose absence is its default; `name`, where Python has the word."""
    return tyro.conf.arg(name=name, metavar=metavar, help_behavior_hint="")


Flag = Annotated[bool, tyro.conf.arg(help_behavior_hint="")]
"""An option without a value: what its absence means goes without saying."""
OptionalInt = Annotated[Optional[int], optional("INT")]
OptionalFloat = Annotated[Optional[float], optional("FLOAT")]
OptionalStr = Annotated[Optional[str], optional("TEXT")]
OptionalInts = Annotated[tuple[int, ...], optional("INT ...")]
OptionalPath = Annotated[Optional[Path], optional("PATH")]
