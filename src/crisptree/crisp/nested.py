"""From a tree of nested nodes to parallel arrays, numbered depth first, TRUE child first."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError

T = TypeVar("T")
Inner = tuple[int, float, T, T]


def columns(root: T, opened: Callable[[T], int | Inner]) -> dict[str, NDArray]:
    """The arrays of a `CrispTree`.

    `opened` says what a node is: the action of a leaf, or feature, threshold, TRUE and FALSE child.
    """
    rows: list[list[float]] = []
    waiting: list[tuple[T, int, int]] = [(root, 0, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        at = len(rows)
        if rows:
            rows[parent][side] = at
        inside = opened(node)
        if isinstance(inside, tuple):
            feature, threshold, if_true, if_false = inside
            rows.append([feature, threshold, -1, -1, -1])
            waiting += [(if_false, at, 3), (if_true, at, 2)]
        else:
            rows.append([-1, 0.0, -1, -1, inside])
    names = ("feature", "threshold", "if_true", "if_false", "action")
    by_column = zip(names, zip(*rows, strict=True), strict=True)
    return {name: np.array(column) for name, column in by_column}


def reader(
    feature_names: tuple[str, ...], action_names: tuple[str, ...]
) -> Callable[[Any], int | Inner]:
    """What opens a node written `(feature, threshold, if_true, if_false)` or `action`, where
    features and actions may be given by number or by name."""

    def opened(node: Any) -> int | Inner:
        if not isinstance(node, tuple | list):
            return _number("action", node, action_names)
        if len(node) != 4:
            raise CrisptreeError(
                f"a node is (feature, threshold, if_true, if_false); this one has {len(node)} parts"
            )
        feature, threshold, if_true, if_false = node
        if not isinstance(threshold, int | float | np.integer | np.floating):
            raise CrisptreeError(f"a threshold must be a number; this one is {threshold!r:.40}")
        return _number("feature", feature, feature_names), float(threshold), if_true, if_false

    return opened


def _number(what: str, given: Any, names: tuple[str, ...]) -> int:
    if given in names:
        return names.index(given)
    if isinstance(given, int | np.integer) and 0 <= given < len(names):
        return int(given)
    raise CrisptreeError(
        f"there is no {what} {given!r}; the {what}s are {', '.join(names)}, or 0 … {len(names) - 1}"
    )
