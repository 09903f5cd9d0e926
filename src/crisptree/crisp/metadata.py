"""The free metadata of a policy: anything JSON can hold, checked when the tree is made, not when a
long run is saved."""

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp.checks import text

DEEPEST = 32
LONGEST_INTEGER_BITS = 1024


def plain_json(field: str, value: Any, depth: int = 0) -> Any:
    """A copy of `value` in JSON's own types: tuples become lists, NumPy values Python's."""
    if depth > DEEPEST:
        raise CrisptreeError(f"{field} is nested more than {DEEPEST} deep")
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        for key in value:
            text(f"a key of {field}", key)
        return {
            key: plain_json(f"{field}.{printable(key)}", item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [plain_json(f"{field}[{at}]", item, depth + 1) for at, item in enumerate(value)]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        text(field, value)
        return str(value)
    if isinstance(value, int):
        if value.bit_length() > LONGEST_INTEGER_BITS:
            raise CrisptreeError(f"{field} is a number of more than {LONGEST_INTEGER_BITS} bits")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise CrisptreeError(f"{field} is {value}; JSON has no such number, null would do")
        return float(value)
    raise CrisptreeError(
        f"{field} is {type(value).__name__}; it must be text, a number, true, false, null, "
        "a list or an object"
    )


def plain_object(name: str, value: object) -> Any:
    """Metadata as plain JSON, if it is an object."""
    if not isinstance(value, Mapping):
        raise CrisptreeError(f"{name} must be an object; it is {value!r:.40}")
    return plain_json(name, value)


def check_origin(env_id: object, feature_function: object) -> None:
    """Refuse an environment's id that is no text, and a function that is not `module:name`."""
    if env_id is not None:
        text("env_id", env_id)
    if feature_function is None:
        return
    text("feature_function", feature_function)
    if not re.fullmatch(r"\w+(\.\w+)*:\w+(\.\w+)*", str(feature_function)):
        raise CrisptreeError(
            f"feature_function is {feature_function!r:.60}; it must be module:name"
        )
