"""Every export made anew and compared with the tree, as `crisptree export` does it."""

import hashlib
from collections.abc import Sequence

from crisptree.base.errors import CrisptreeError
from crisptree.base.extras import missing_extra
from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.export import TARGETS, ExportError
from crisptree.export.states import RANDOM_STATES
from crisptree.report.review import ExportCheck

NAME = "policy"
"""The stem of the file that is hashed."""


def checked(
    tree: CrispTree, targets: Sequence[str], count: int = RANDOM_STATES
) -> tuple[ExportCheck, ...]:
    """Each target's check: on how many observations it decides as the tree does."""
    for name in targets:
        if name not in TARGETS:
            raise CrisptreeError(f"there is no export '{name}'; there are {', '.join(TARGETS)}")
    return tuple(_checked(tree, name, count) for name in targets)


def _checked(tree: CrispTree, name: str, count: int) -> ExportCheck:
    target = TARGETS[name]
    try:
        made = target.make(tree, NAME)
        files = tuple(
            (f"{NAME}{suffix or target.suffixes[0]}", _sha256(content))
            for suffix, content in target.files(made).items()
        )
    except (CrisptreeError, ImportError) as error:
        return ExportCheck(name, target.language, "not checked", 0, _why(error, name), ())
    try:
        states = target.check(tree, made, count)
    except ExportError as error:
        return ExportCheck(name, target.language, "differs", 0, printable(str(error)), files)
    except (CrisptreeError, ImportError) as error:
        return ExportCheck(name, target.language, "not checked", 0, _why(error, name), files)
    return ExportCheck(name, target.language, "equal", states, "", files)


def _why(error: Exception, name: str) -> str:
    said = missing_extra(error, f"--to {name}") if isinstance(error, ImportError) else None
    return printable(said or str(error))


def _sha256(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
