"""What makes parallel arrays a tree, and its leaves those of a policy."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp.checks import first, number
from crisptree.crisp.linear import Gain, Gains
from crisptree.crisp.signature import Actions


def binary_tree(
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    if_true: NDArray[np.int32],
    if_false: NDArray[np.int32],
    action: NDArray,
    n_features: int,
) -> None:
    """Refuse what is not one binary tree with its root at node 0."""
    columns = {"threshold": threshold, "if_true": if_true, "if_false": if_false, "action": action}
    n_nodes = feature.size
    if n_nodes == 0:
        raise CrisptreeError("tree.feature is empty; a tree has at least one node")
    for name, column in columns.items():
        if len(column) != n_nodes:
            raise CrisptreeError(
                f"tree.{name} has {len(column)} entries and tree.feature has {n_nodes}; "
                "each needs one for every node"
            )
    is_leaf = feature == -1
    _in_range("tree.feature", feature, n_features, ~is_leaf, "the features are")
    _equal("tree.threshold", threshold, 0.0, is_leaf, "a leaf (tree.feature is -1)")
    for name, children in (("if_true", if_true), ("if_false", if_false)):
        _equal(f"tree.{name}", children, -1, is_leaf, "a leaf (tree.feature is -1)")
        _in_range(f"tree.{name}", children, n_nodes, ~is_leaf, "the nodes are")
    _each_node_reached_once(is_leaf.tolist(), if_true.tolist(), if_false.tolist())


def leaf_actions(action: NDArray, gains: Gains, is_leaf: NDArray[np.bool_], to: Actions) -> None:
    """Refuse leaves whose actions the policy does not have, and inner nodes that have one."""
    none = 0.0 if to.kind == "box" else -1
    wide = to.kind != "discrete"
    if wide and action.shape[1] != to.n_values:
        what = "a number for each dimension" if to.kind == "box" else "a choice for each part"
        raise CrisptreeError(
            f"tree.action has {action.shape[1]} values a node; a leaf has {what}, "
            f"here {to.n_values}"
        )
    inner = ~is_leaf[:, None] if wide else ~is_leaf
    _equal("tree.action", action, none, inner, "an inner node (tree.feature is not -1)")
    if to.kind == "discrete":
        _in_range("tree.action", action, len(to.names), is_leaf, "a leaf's actions are")
    elif to.kind == "multi_discrete":
        for part, choices in enumerate(to.choices):
            what = f"the choices of part {part} are"
            where = np.zeros(action.shape, dtype=bool)
            where[:, part] = is_leaf
            _in_range("tree.action", action, len(choices), where, what)
    else:
        constant = np.repeat(is_leaf[:, None], to.n_values, axis=1)
        for node, of_node in enumerate(gains):
            for gain in of_node:
                constant[node, gain.dimension] = False
        wrong = constant & ((action < to.low) | (action > to.high))
        if wrong.any():
            dimension = int(np.argwhere(wrong)[0][1])
            raise CrisptreeError(
                f"{first('tree.action', action, wrong)}; dimension {dimension} lies in "
                f"{to.low[dimension]:g} … {to.high[dimension]:g}"
            )


def gains(values: object, is_leaf: NDArray[np.bool_], n_features: int, to: Actions) -> Gains:
    """The gains of every node, sorted, without those that are zero."""
    n_nodes = len(is_leaf)
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise CrisptreeError(f"tree.gains must be a list; it is {type(values).__name__}")
    if not any(values):
        return ((),) * n_nodes
    if to.kind != "box":
        raise CrisptreeError(f"tree.gains is for box actions; this policy's are {to.kind}")
    if len(values) != n_nodes:
        raise CrisptreeError(
            f"tree.gains has {len(values)} entries and tree.feature has {n_nodes}; "
            "each needs one for every node"
        )
    found = []
    for node, of_node in enumerate(values):
        field = f"tree.gains[{node}]"
        if of_node and not is_leaf[node]:
            raise CrisptreeError(f"{field} is not empty; an inner node has no gains")
        found.append(_of_one_leaf(field, of_node, n_features, to.n_values))
    return tuple(found)


def _of_one_leaf(field: str, values: object, n_features: int, n_values: int) -> tuple[Gain, ...]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise CrisptreeError(f"{field} must be a list; it is {type(values).__name__}")
    found: dict[tuple[int, int], Gain] = {}
    for at, gain in enumerate(values):
        name = f"{field}[{at}]"
        if not isinstance(gain, Sequence) or isinstance(gain, str) or len(gain) != 3:
            raise CrisptreeError(f"{name} must be [dimension, feature, weight]")
        dimension = _index(f"{name}[0]", gain[0], n_values, "the dimensions are")
        feature = _index(f"{name}[1]", gain[1], n_features, "the features are")
        weight = number(f"{name}[2]", gain[2])
        if (dimension, feature) in found:
            raise CrisptreeError(
                f"{name} repeats feature {feature} of dimension {dimension}; one gain is enough"
            )
        found[dimension, feature] = Gain(dimension, feature, weight)
    return tuple(found[key] for key in sorted(found) if found[key].weight != 0.0)


def _index(field: str, value: object, end: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < end:
        raise CrisptreeError(f"{field} is {value!r:.40}; {what} 0 … {end - 1}")
    return int(value)


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


def _in_range(field: str, values: NDArray, end: int, where: NDArray[np.bool_], what: str) -> None:
    wrong = where & ((values < 0) | (values >= end))
    if wrong.any():
        raise CrisptreeError(f"{first(field, values, wrong)}; {what} 0 … {end - 1}")


def _equal(
    field: str, values: NDArray, wanted: int | float, where: NDArray[np.bool_], what: str
) -> None:
    wrong = where & (values != wanted)
    if wrong.any():
        raise CrisptreeError(f"{first(field, values, wrong)}; at {what} it must be {wanted}")
