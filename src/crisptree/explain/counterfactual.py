"""The smallest change of an observation that changes the action.

A leaf is a box, and the nearest point of a box is found feature by feature: exact, with no search.
Distance is Euclidean after dividing each feature by its scale, so that units do not decide.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import Condition, CrispTree


@dataclass(frozen=True)
class Change:
    """What would have to be otherwise for `action` to be taken."""

    action: int
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

    What changes becomes a float of `dtype`, as the environment's observations are. Actions that no
    observation leads to are left out.
    """
    at = np.array(observation, np.float64)
    if at.shape != (tree.n_features,):
        raise CrisptreeError(f"an observation has {tree.n_features} numbers; this one {at.shape}")
    scales = np.ones(tree.n_features) if scale is None else np.array(scale, np.float64)
    if scales.shape != at.shape or not (scales > 0).all():
        raise CrisptreeError(f"the scale must be {tree.n_features} numbers above zero")
    taken = int(tree.predict(at)[0])
    best: dict[int, Change] = {}
    for rule in tree.rules():
        moved = None if rule.action == taken else _nearest(rule.conditions, at, dtype)
        if moved is None:
            continue
        distance = math.hypot(*((moved - at) / scales))
        known = best.get(rule.action)
        if known is None or distance < known.distance:
            features = tuple(np.flatnonzero(moved != at).tolist())
            best[rule.action] = Change(rule.action, tuple(moved.tolist()), features, distance)
    return tuple(sorted(best.values(), key=lambda change: (change.distance, change.action)))


def _nearest(
    conditions: tuple[Condition, ...], at: NDArray[np.float64], dtype: Any
) -> NDArray[np.float64] | None:
    """The point of a box nearest to `at`; none if the box holds no float of the type."""
    moved = at.copy()
    for feature, above, at_most in conditions:
        if above < at[feature] <= at_most:
            continue
        value = _next_above(above, dtype) if at[feature] <= above else _last_up_to(at_most, dtype)
        if not (math.isfinite(value) and above < value <= at_most):
            return None
        moved[feature] = value
    return moved


def _next_above(value: float, dtype: Any) -> float:
    with np.errstate(over="ignore"):
        near = dtype(value)
        return float(near if float(near) > value else np.nextafter(near, dtype(np.inf)))


def _last_up_to(value: float, dtype: Any) -> float:
    with np.errstate(over="ignore"):
        near = dtype(value)
        return float(near if float(near) <= value else np.nextafter(near, dtype(-np.inf)))
