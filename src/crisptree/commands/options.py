"""Options that may be left out: `--steps INT` in the help, not `--steps {None}|INT`.

`Optional[…]`, since tyro sees through it by itself; for `… | None` it imports a type checker first.
"""

# ruff: noqa: UP045
import contextlib
import io
import re
from pathlib import Path
from typing import Annotated, Any, Optional

import tyro

from crisptree.base.errors import CrisptreeError

FORM = (tyro.conf.OmitArgPrefixes, tyro.conf.FlagCreatePairsOff)


def parsed(
    kind: Any, arguments: list[str], command: str, default: Any = None, form: Any = FORM
) -> Any:
    """The options as an object of `kind`; what is wrong with them is said in one line."""
    said = io.StringIO()
    given = {} if default is None else {"default": default}
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(kind, args=arguments, prog=f"crisptree {command}", config=form, **given)
    except SystemExit as stop:
        if stop.code in (None, 0):
            raise
    message = f"{one_line(said.getvalue())}; crisptree {command} --help says more"
    raise CrisptreeError(message)


def one_line(box: str) -> str:
    """What a boxed message says first, below its title, without the box."""
    words: list[str] = []
    for line in box.splitlines()[1:]:
        inside = line.strip("│ ")
        if set(inside) <= set("╰─╯-"):  # nothing, or a rule
            if words:
                break
        else:
            words.append(inside)
    said = " ".join(words) or " ".join(box.split())
    # Nobody types None: it stands for an option that is left out.
    return re.sub(r"\{None\}\||'None', |, 'None'", "", said).rstrip(".")


def optional(metavar: str, name: str | None = None) -> Any:
    """How an option is shown whose absence is its default; `name`, where Python has the word."""
    return tyro.conf.arg(name=name, metavar=metavar, help_behavior_hint="")


OptionalInt = Annotated[Optional[int], optional("INT")]
OptionalFloat = Annotated[Optional[float], optional("FLOAT")]
OptionalStr = Annotated[Optional[str], optional("TEXT")]
OptionalPath = Annotated[Optional[Path], optional("PATH")]
