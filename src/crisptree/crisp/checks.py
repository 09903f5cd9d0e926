"""Numbers, names and text as a tree's fields hold them; every message names the field at fault."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError

INT32_MAX = 2**31 - 1


def whole_numbers(field: str, values: object, ndim: int = 1) -> NDArray[np.int32]:
    """`values` as a read-only int32 array of its own."""
    array = _array(field, values, ndim)
    if array.dtype.kind not in "iu":
        raise CrisptreeError(f"{field} must hold whole numbers; it holds {array.dtype}")
    wrong = (array < -1) | (array > INT32_MAX)
    if wrong.any():
        raise CrisptreeError(f"{first(field, array, wrong)}; it must lie in -1 … {INT32_MAX}")
    return _frozen(array.astype(np.int32))


def finite_numbers(field: str, values: object, ndim: int = 1) -> NDArray[np.float64]:
    """`values` as a read-only float64 array of its own; -0.0 compares like 0.0 and becomes it."""
    array = _array(field, values, ndim)
    if array.dtype.kind not in "iuf":
        raise CrisptreeError(f"{field} must hold numbers; it holds {array.dtype}")
    array = array.astype(np.float64) + 0.0
    wrong = ~np.isfinite(array)
    if wrong.any():
        raise CrisptreeError(f"{first(field, array, wrong)}; it must be a finite number")
    return _frozen(array)


def names(field: str, values: object) -> tuple[str, ...]:
    """`values` as a tuple of distinct, non-empty strings."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise CrisptreeError(f"{field} must be a list of names; it is {type(values).__name__}")
    if not values:
        raise CrisptreeError(f"{field} is empty; it must hold at least one name")
    seen: dict[str, int] = {}
    for at, name in enumerate(values):
        text(f"{field}[{at}]", name)
        if not name:
            raise CrisptreeError(f"{field}[{at}] is empty; it must be a name")
        if name in seen:
            raise CrisptreeError(
                f"{field}[{at}] repeats {name!r} of {field}[{seen[name]}]; names must differ"
            )
        seen[name] = at
    return tuple(values)


def text(field: str, value: object) -> None:
    """Refuse what is no string, or no string that UTF-8 can write."""
    if not isinstance(value, str):
        raise CrisptreeError(f"{field} must be text; it is {type(value).__name__}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise CrisptreeError(
            f"{field} holds half a surrogate pair; it must be valid text"
        ) from None


def number(field: str, value: object) -> float:
    """`value` as a finite float; -0.0 becomes 0.0."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise CrisptreeError(f"{field} must be a number; it is {type(value).__name__}")
    try:
        found = float(value) + 0.0
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise CrisptreeError(f"{field} is {found}; it must be a finite number")
    return found


def first(field: str, values: NDArray, wrong: NDArray[np.bool_]) -> str:
    """The first value at fault, by its place: `tree.action[3][1] is 7`."""
    at = tuple(np.argwhere(wrong)[0].tolist())
    return f"{field}{''.join(f'[{index}]' for index in at)} is {values[at]}"


def _array(field: str, values: object, ndim: int) -> NDArray:
    shape = {1: "a flat list", 2: "a list with a row for each node"}[ndim]
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        raise CrisptreeError(f"{field} must be {shape} of numbers") from None
    if array.ndim != ndim:
        raise CrisptreeError(f"{field} must be {shape}; its shape is {array.shape}")
    return array


def _frozen(array: NDArray) -> NDArray:
    array.setflags(write=False)
    return array
