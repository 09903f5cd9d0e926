"""From a tree of nested nodes to parallel arrays, numbered depth first, TRUE child first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.crisp.linear import Gain
from crisptree.crisp.signature import Actions

T = TypeVar("T")
Inner = tuple[int, float, T, T]
Action = int | tuple[int, ...] | tuple[float, ...]
"""What a leaf holds: one choice, one choice for each part, or one number for each dimension."""


@dataclass(frozen=True)
class Leaf:
    """What a leaf holds: its action as the tree's arrays write it, and its gains."""

    action: Action
    gains: tuple[Gain, ...] = ()


def columns(root: T, opened: Callable[[T], int | Leaf | Inner]) -> dict[str, Any]:
    """The arrays of a `CrispTree`.

    `opened` says what a node is: a leaf, by its action or as a `Leaf`, or its feature, threshold,
    TRUE and FALSE child.
    """
    rows: list[list[float]] = []
    leaves: dict[int, Leaf] = {}
    waiting: list[tuple[T, int, int]] = [(root, 0, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        at = len(rows)
        if rows:
            rows[parent][side] = at
        inside = opened(node)
        if isinstance(inside, tuple):
            feature, threshold, if_true, if_false = inside
            rows.append([feature, threshold, -1, -1])
            waiting += [(if_false, at, 3), (if_true, at, 2)]
        else:
            rows.append([-1, 0.0, -1, -1])
            leaves[at] = inside if isinstance(inside, Leaf) else Leaf(inside)
    names = ("feature", "threshold", "if_true", "if_false")
    by_column = zip(names, zip(*rows, strict=True), strict=True)
    arrays = {name: np.array(column) for name, column in by_column}
    constant = Leaf(_of_an_inner_node(next(iter(leaves.values())).action))
    filled = [leaves.get(at, constant) for at in range(len(rows))]
    return {
        **arrays,
        "action": np.array([leaf.action for leaf in filled]),
        "gains": tuple(leaf.gains for leaf in filled),
    }


def _of_an_inner_node(action: Action) -> Any:
    """The entry of an inner node in the array of actions: -1, or 0.0 among real vectors."""
    if not isinstance(action, tuple):
        return -1
    return tuple(0.0 if isinstance(value, float) else -1 for value in action)


def reader(feature_names: tuple[str, ...], actions: Actions) -> Callable[[Any], Leaf | Inner]:
    """A function that opens a node written by hand: `(feature, threshold, if_true, if_false)` or a
    leaf.

    Features and actions may be given by number or by name. See `CrispTree.from_nested`.
    """

    def opened(node: Any) -> Leaf | Inner:
        inner = tuple | list if actions.kind == "discrete" else tuple
        if not isinstance(node, inner) or _is_linear(node):
            return _leaf(node, feature_names, actions)
        if len(node) != 4:
            raise CrisptreeError(
                f"a node is (feature, threshold, if_true, if_false); this one has {len(node)} parts"
            )
        feature, threshold, if_true, if_false = node
        number = _real("a threshold", threshold)
        return _number("feature", feature, feature_names), number, if_true, if_false

    return opened


def _leaf(node: Any, feature_names: tuple[str, ...], actions: Actions) -> Leaf:
    if actions.kind == "discrete":
        return Leaf(_number("action", node, actions.names))
    values = _by_dimension(node, actions.names)
    if actions.kind == "multi_discrete":
        pairs = zip(values, actions.choices, strict=True)
        return Leaf(tuple(_number("choice", value, choices) for value, choices in pairs))
    constants: list[float] = []
    gains: list[Gain] = []
    for dimension, value in enumerate(values):
        constant, weights = value if _is_linear(value) else (value, {})
        constants.append(_real("an action", constant))
        for feature, weight in weights.items():
            number = _number("feature", feature, feature_names)
            gains.append(Gain(dimension, number, _real("a weight", weight)))
    return Leaf(tuple(constants), tuple(gains))


def _is_linear(value: Any) -> bool:
    """Whether it is written `(constant, {feature: weight, …})`."""
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], Mapping)


def _by_dimension(node: Any, names: tuple[str, ...]) -> list[Any]:
    """A leaf's values in the order of its parts or dimensions."""
    if isinstance(node, Mapping):
        if set(node) != set(names):
            raise CrisptreeError(
                f"a leaf names {', '.join(names)}; this one names {', '.join(map(str, node))}"
            )
        return [node[name] for name in names]
    values = list(node) if isinstance(node, list | np.ndarray) else [node]
    if len(values) != len(names):
        raise CrisptreeError(
            f"a leaf holds a list of {len(names)} values ({', '.join(names)}); "
            f"this one holds {len(values)}"
        )
    return values


def _real(what: str, given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float | np.integer | np.floating):
        raise CrisptreeError(f"{what} must be a number; this one is {given!r:.40}")
    try:
        return float(given)
    except OverflowError:
        raise CrisptreeError(f"{what} must be a finite number; this one is too large") from None


def _number(what: str, given: Any, names: tuple[str, ...]) -> int:
    if isinstance(given, str) and given in names:
        return names.index(given)
    if isinstance(given, int | np.integer) and 0 <= given < len(names):
        return int(given)
    raise CrisptreeError(
        f"there is no {what} {given!r:.60}; the {what}s are {', '.join(names)}, "
        f"or 0 … {len(names) - 1}"
    )
