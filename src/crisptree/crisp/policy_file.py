"""Policies on disk: JSON that a person can read, compare and mend. Never pickle.

Numbers are written with the digits that give back the same float64.
"""

import json
import os
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, TypeVar

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import read_bytes, write_atomically
from crisptree.base.text import printable

Content = TypeVar("Content")
LARGEST_FILE = 16 * 2**20
IN_A_RUN = "policy.json"
"""The policy's name in the directory of a run."""


def write(path: str | PathLike[str], policy: Mapping[str, Any]) -> None:
    """Write the policy as a file, whole or not at all."""
    _check_path(path)
    write_atomically(path, _readable(policy) + "\n")


def _check_path(path: object) -> None:
    if not isinstance(path, (str, PathLike)):
        raise CrisptreeError(
            f"a policy is given by the path of its file or of a run, not by {type(path).__name__}"
        )


def policy_path(path: str | PathLike[str]) -> str:
    """The policy file that a path means: the file itself, or the one in the directory of a run."""
    _check_path(path)
    if not os.path.isdir(path):
        return os.fspath(path)
    inside = os.path.join(path, IN_A_RUN)
    if not os.path.isfile(inside):
        raise CrisptreeError(
            f"{printable(os.fspath(path))} is a directory without a {IN_A_RUN}; give a policy file "
            "or the directory of a finished run"
        )
    return inside


def read(path: str | PathLike[str]) -> Any:
    """The parsed JSON of a file, not yet checked; a folder stands for the `policy.json` in it."""
    path = policy_path(path)
    try:
        content = read_bytes(path, LARGEST_FILE)
    except CrisptreeError as error:
        raise CrisptreeError(f"{error}; no policy is") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = getattr(error, "strerror", None) or error
        raise CrisptreeError(f"cannot read {path}: {why}; a policy file was expected") from None
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=_without_repeats)
    except CrisptreeError as error:
        raise CrisptreeError(f"{path}: {error}") from None
    except UnicodeDecodeError:
        raise CrisptreeError(f"{path} is not a policy file: it is not UTF-8 text") from None
    except RecursionError:
        raise CrisptreeError(f"{path} is not a policy file: it is nested too deep") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise CrisptreeError(
            f"{path} is not a policy file: at {where} it stops being JSON ({error.msg}); "
            "it may have been cut short or edited"
        ) from None
    except ValueError:  # a whole number of thousands of digits
        raise CrisptreeError(f"{path} is not a policy file: it holds a number too long") from None


def load(path: str | PathLike[str], of: Callable[[Any], Content]) -> Content:
    """What `of` makes of a file's JSON; an error names the file."""
    content = read(path)
    try:
        return of(content)
    except CrisptreeError as error:
        raise CrisptreeError(f"{path}: {error}") from None


def type_of(value: object) -> str:
    """JSON's word for the type of a value."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    names |= {int: "a number", float: "a number", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def brief(value: object) -> str:
    """A value as JSON, cut off where it gets long."""
    text = json.dumps(value, ensure_ascii=True, default=repr)
    return text if len(text) <= 40 else text[:37] + "…"


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise CrisptreeError(f"{brief(name)} appears twice in one object")
        found[name] = value
    return found


def _readable(value: Any, indent: str = "") -> str:
    """Objects, and lists of objects, over several lines; everything else on one."""
    inner = indent + "  "
    if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        lines = [f"{inner}{_on_one_line(each)}" for each in value]
        return "[\n" + ",\n".join(lines) + f"\n{indent}]"
    if not isinstance(value, Mapping) or not value:
        return _on_one_line(value)
    lines = [
        f"{inner}{_on_one_line(name)}: {_readable(item, inner)}" for name, item in value.items()
    ]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def _on_one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
