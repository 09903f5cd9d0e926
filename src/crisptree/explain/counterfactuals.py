"""The smallest change of an observation that changes the action.

A leaf is a box, and the nearest point of a box is found feature by feature: exact, with no search.
Distance is Euclidean after dividing each feature by its scale, so that units do not decide. A flag
changes to yes or no, a category to a whole number.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import Condition, CrispTree
from crisptree.crisp.nested import Leaf
from crisptree.crisp.signature import FeatureKind


@dataclass(frozen=True)
class Change:
    """What would have to be otherwise for another action to be taken."""

    leaf: int
    """The leaf that is then reached; its action is the tree's `action_of(leaf)`."""
    observation: tuple[float, ...]
    features: tuple[int, ...]
    """Those that change."""
    distance: float


def counterfactuals(
    tree: CrispTree,
    observation: NDArray | Sequence[float],
    scale: NDArray | None = None,
    dtype: Any = np.float32,
) -> tuple[Change, ...]:
    """For each other action the smallest change that leads to it, the smallest of all first.

    Two leaves have the same action if they hold the same numbers; linear leaves, if they compute
    alike. What changes becomes a float of `dtype`, as the environment's observations are. Actions
    that no observation leads to are left out.
    """
    if len(tree.features) > tree.n_features:
        raise CrisptreeError(
            "the smallest change is found for policies that ask for single features; this one has "
            "derived ones"
        )
    at = np.array(observation, np.float64)
    if at.shape != (tree.n_features,):
        raise CrisptreeError(f"an observation has {tree.n_features} numbers; this one {at.shape}")
    scales = np.ones(tree.n_features) if scale is None else np.array(scale, np.float64)
    if scales.shape != at.shape or not (scales > 0).all():
        raise CrisptreeError(f"the scale must be {tree.n_features} numbers above zero")
    taken = tree.leaf_at(int(tree.apply(at)))
    nearest: dict[Leaf, Change] = {}
    for leaf in tree.leaves():
        held = tree.leaf_at(leaf.node)
        moved = None if held == taken else _nearest(tree, leaf.conditions.values(), at, dtype)
        if moved is None:
            continue
        distance = math.hypot(*((moved - at) / scales))
        known = nearest.get(held)
        if known is None or distance < known.distance:
            features = tuple(np.flatnonzero(moved != at).tolist())
            nearest[held] = Change(leaf.node, tuple(moved.tolist()), features, distance)
    return tuple(sorted(nearest.values(), key=lambda change: (change.distance, change.leaf)))


def _nearest(
    tree: CrispTree, conditions: Iterable[Condition], at: NDArray[np.float64], dtype: Any
) -> NDArray[np.float64] | None:
    """The point of a box nearest to `at`; none if the box holds no value that can occur."""
    moved = at.copy()
    for feature, above, at_most in conditions:
        if above < at[feature] <= at_most:
            continue
        kind = tree.features[feature].kind
        if at[feature] <= above:
            value = _least_above(kind, above, dtype)
        else:
            value = _most_up_to(kind, at_most, dtype)
        if not (math.isfinite(value) and above < value <= at_most):
            return None
        moved[feature] = value
    return moved


def _least_above(kind: FeatureKind, above: float, dtype: Any) -> float:
    """The least value of a feature above a number, if it has one."""
    if kind == "flag":
        return 1.0
    return float(math.floor(above) + 1) if kind == "category" else _next_above(above, dtype)


def _most_up_to(kind: FeatureKind, at_most: float, dtype: Any) -> float:
    """The greatest value of a feature up to a number, if it has one."""
    if kind == "flag":
        return 0.0
    return float(math.floor(at_most)) if kind == "category" else _last_up_to(at_most, dtype)


def _next_above(value: float, dtype: Any) -> float:
    with np.errstate(over="ignore"):
        near = dtype(value)
        return float(near if float(near) > value else np.nextafter(near, dtype(np.inf)))


def _last_up_to(value: float, dtype: Any) -> float:
    with np.errstate(over="ignore"):
        near = dtype(value)
        return float(near if float(near) <= value else np.nextafter(near, dtype(-np.inf)))
