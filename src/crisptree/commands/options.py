"""Options that may be left out: `--steps INT` in the help, not `--steps {None}|INT`.

`Optional[…]`, since tyro sees through it by itself; for `… | None` it imports a type checker first.
"""

# ruff: noqa: UP045
from pathlib import Path
from typing import Annotated, Any, Optional

import tyro


def optional(metavar: str, name: str | None = None) -> Any:
    """How an option is shown whose absence is its default; `name`, where Python has the word."""
    return tyro.conf.arg(name=name, metavar=metavar, help_behavior_hint="")


OptionalInt = Annotated[Optional[int], optional("INT")]
OptionalFloat = Annotated[Optional[float], optional("FLOAT")]
OptionalStr = Annotated[Optional[str], optional("TEXT")]
OptionalPath = Annotated[Optional[Path], optional("PATH")]
