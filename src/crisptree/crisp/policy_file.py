"""The policy file: versioned JSON that a person can read, compare and mend. Never pickle.

    {"format": "crisptree.policy", "version": 1,
     "tree": {"feature": […], "threshold": […], "if_true": […], "if_false": […], "action": […]},
     "feature_names": […], "action_names": […], "env_id": …, "training": {…}}

Thresholds are written with the digits that give back the same float64.
"""

import json
from collections.abc import Mapping
from os import PathLike
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.base.files import write_atomically
from crisptree.crisp import checks

FORMAT = "crisptree.policy"
VERSION = 1
LARGEST_FILE = 16 * 2**20

TREE_FIELDS = ("feature", "threshold", "if_true", "if_false", "action")
FIELDS = ("format", "version", "tree", "feature_names", "action_names", "env_id", "training")


def write(path: str | PathLike[str], policy: Mapping[str, Any]) -> None:
    """The policy as a file, whole or not at all."""
    write_atomically(path, _readable(policy) + "\n")


def read(path: str | PathLike[str]) -> Any:
    """What a file's JSON says, not yet looked at."""
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = getattr(error, "strerror", None) or error
        raise CrisptreeError(f"cannot read {path}: {why}; a policy file was expected") from None
    if len(content) > LARGEST_FILE:
        raise CrisptreeError(f"{path} is larger than {LARGEST_FILE >> 20} MiB; no policy is")
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


def checked(policy: object) -> dict[str, Any]:
    """`policy`, if it has the fields of this version with the types JSON gives them.

    What the values mean together (children in range, no cycles, …) is the tree's own check.
    """
    if not isinstance(policy, Mapping):
        raise CrisptreeError(f"a policy must be a JSON object; this is {_type(policy)}")
    if policy.get("format") != FORMAT:
        raise CrisptreeError(f"format must be {FORMAT!r}; this is no policy file of crisptree")
    version = policy.get("version")
    if type(version) is not int or version != VERSION:
        raise CrisptreeError(
            f"version is {_brief(version)}; this crisptree reads version {VERSION}"
        )
    _exactly(FIELDS, policy, "")
    tree = policy["tree"]
    if not isinstance(tree, Mapping):
        raise CrisptreeError(f"tree must be an object; it is {_type(tree)}")
    _exactly(TREE_FIELDS, tree, "tree.")
    for name in TREE_FIELDS:
        _numbers(f"tree.{name}", tree[name], (int, float) if name == "threshold" else (int,))
    for name in ("feature_names", "action_names"):
        checks.names(name, policy[name])
    if policy["env_id"] is not None:
        checks.text("env_id", policy["env_id"])
    if not isinstance(policy["training"], Mapping):
        raise CrisptreeError(f"training must be an object; it is {_type(policy['training'])}")
    return dict(policy)


def _exactly(wanted: tuple[str, ...], found: Mapping[str, Any], prefix: str) -> None:
    for name in wanted:
        if name not in found:
            raise CrisptreeError(f"{prefix}{name} is missing")
    for name in found:
        if name not in wanted:
            raise CrisptreeError(f"{prefix}{_brief(name)} is no field of version {VERSION}")


def _numbers(field: str, values: object, kinds: tuple[type, ...]) -> None:
    what = "numbers" if float in kinds else "whole numbers"
    if not isinstance(values, list):
        raise CrisptreeError(f"{field} must be a list of {what}; it is {_type(values)}")
    for at, value in enumerate(values):
        if type(value) not in kinds:  # not isinstance: true is no number here
            raise CrisptreeError(f"{field}[{at}] is {_brief(value)}; {field} must hold {what} only")
        if abs(value) > 2**63 - 1 and type(value) is int:
            raise CrisptreeError(f"{field}[{at}] is a whole number beyond 64 bits")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise CrisptreeError(f"{_brief(name)} appears twice in one object")
        found[name] = value
    return found


def _readable(value: Any, indent: str = "") -> str:
    """Objects over several lines, everything else on one."""
    if not isinstance(value, Mapping) or not value:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    inner = indent + "  "
    lines = [
        f"{inner}{json.dumps(name, ensure_ascii=False)}: {_readable(item, inner)}"
        for name, item in value.items()
    ]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def _type(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    names |= {int: "a number", float: "a number", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def _brief(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, default=repr)
    return text if len(text) <= 40 else text[:37] + "…"
