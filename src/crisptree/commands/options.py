"""Options that may be left out: `--steps INT` in the help, not `--steps {None}|INT`.

`Optional[…]`, since tyro sees through it by itself; for `… | None` it imports a type checker first.
"""

# ruff: noqa: UP045
import contextlib
import inspect
import io
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
    said = io.StringIO()
    given = {} if default is None else {"default": default}
    try:
        with contextlib.redirect_stderr(said), _sentences_in_one_piece():
            return tyro.cli(kind, args=arguments, prog=f"crisptree {command}", config=form, **given)
    except SystemExit as stop:
        if stop.code in (None, 0):
            raise
    raise CrisptreeError(
        f"{in_one_line(said.getvalue(), command)}; crisptree {command} --help says more"
    )


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


OptionalInt = Annotated[Optional[int], optional("INT")]
OptionalFloat = Annotated[Optional[float], optional("FLOAT")]
OptionalStr = Annotated[Optional[str], optional("TEXT")]
OptionalInts = Annotated[tuple[int, ...], optional("INT ...")]
OptionalPath = Annotated[Optional[Path], optional("PATH")]
