"""What makes five parallel arrays a tree; every message names the field at fault."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError

INT32_MAX = 2**31 - 1


def whole_numbers(field: str, values: object) -> NDArray[np.int32]:
    """`values` as a read-only int32 vector of its own."""
    array = _vector(field, values)
    if array.dtype.kind not in "iu":
        raise CrisptreeError(f"{field} must hold whole numbers; it holds {array.dtype}")
    if array.size and (array.min() < -1 or array.max() > INT32_MAX):
        at = int(np.argmax((array < -1) | (array > INT32_MAX)))
        raise CrisptreeError(f"{field}[{at}] is {array[at]}; it must lie in -1 … {INT32_MAX}")
    return _frozen(array.astype(np.int32))


def finite_numbers(field: str, values: object) -> NDArray[np.float64]:
    """`values` as a read-only float64 vector of its own; -0.0 compares like 0.0 and becomes it."""
    array = _vector(field, values)
    if array.dtype.kind not in "iuf":
        raise CrisptreeError(f"{field} must hold numbers; it holds {array.dtype}")
    array = array.astype(np.float64) + 0.0
    if not np.isfinite(array).all():
        at = int(np.argmin(np.isfinite(array)))
        raise CrisptreeError(f"{field}[{at}] is {array[at]}; it must be a finite number")
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


def structure(
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    if_true: NDArray[np.int32],
    if_false: NDArray[np.int32],
    action: NDArray[np.int32],
    n_features: int,
    n_actions: int,
) -> None:
    """Refuse what is not one binary tree with its root at node 0."""
    columns = {"threshold": threshold, "if_true": if_true, "if_false": if_false, "action": action}
    n_nodes = feature.size
    if n_nodes == 0:
        raise CrisptreeError("tree.feature is empty; a tree has at least one node")
    for name, column in columns.items():
        if column.size != n_nodes:
            raise CrisptreeError(
                f"tree.{name} has {column.size} entries and tree.feature has {n_nodes}; "
                "each needs one for every node"
            )
    is_leaf = feature == -1
    _in_range("tree.feature", feature, n_features, ~is_leaf, "the features are")
    _in_range("tree.action", action, n_actions, is_leaf, "a leaf's actions are")
    _equal("tree.action", action, -1, ~is_leaf, "an inner node (tree.feature is not -1)")
    _equal("tree.threshold", threshold, 0.0, is_leaf, "a leaf (tree.feature is -1)")
    for name, children in (("if_true", if_true), ("if_false", if_false)):
        _equal(f"tree.{name}", children, -1, is_leaf, "a leaf (tree.feature is -1)")
        _in_range(f"tree.{name}", children, n_nodes, ~is_leaf, "the nodes are")
    _each_node_reached_once(is_leaf.tolist(), if_true.tolist(), if_false.tolist())


def _each_node_reached_once(is_leaf: list[bool], if_true: list[int], if_false: list[int]) -> None:
    reached = [False] * len(is_leaf)
    reached[0] = True
    waiting = [0]
    while waiting:
        node = waiting.pop()
        if is_leaf[node]:
            continue
        for name, children in (("if_true", if_true), ("if_false", if_false)):
            child = children[node]
            if reached[child]:
                raise CrisptreeError(
                    f"tree.{name}[{node}] is {child}, a node that is reached in another way too; "
                    "a tree has no cycles and no shared children"
                )
            reached[child] = True
            waiting.append(child)
    if not all(reached):
        raise CrisptreeError(
            f"tree.if_true and tree.if_false never lead to node {reached.index(False)}; "
            "every node must be reached from the root, node 0"
        )


def _in_range(
    field: str, values: NDArray[np.int32], end: int, where: NDArray[np.bool_], what: str
) -> None:
    wrong = where & ((values < 0) | (values >= end))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise CrisptreeError(f"{field}[{at}] is {values[at]}; {what} 0 … {end - 1}")


def _equal(
    field: str, values: NDArray, wanted: int | float, where: NDArray[np.bool_], what: str
) -> None:
    wrong = where & (values != wanted)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise CrisptreeError(f"{field}[{at}] is {values[at]}; at {what} it must be {wanted}")


def _vector(field: str, values: object) -> NDArray:
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        raise CrisptreeError(f"{field} must be a flat list of numbers") from None
    if array.ndim != 1:
        raise CrisptreeError(f"{field} must be a flat list; its shape is {array.shape}")
    return array


def _frozen(array: NDArray) -> NDArray:
    array.setflags(write=False)
    return array
