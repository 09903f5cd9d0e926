"""Leaves of real vectors: a constant, plus a few features times their gains, within bounds.

Dimension d of a leaf's action is `action[d] + weight · x[feature] + …`, added in the order of the
gains, each product and each sum rounded to float64, then brought into `low … high`. A sum that is
no number (infinity minus infinity) becomes `low`. Exports compute the same, in the same order.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp.signature import Actions


class Gain(NamedTuple):
    """`weight` times `x[feature]` is added to dimension `dimension` of a leaf's action."""

    dimension: int
    feature: int
    weight: float


Gains = tuple[tuple[Gain, ...], ...]
"""The gains of each node; an inner node and a constant leaf have none."""


def clipped(values: NDArray[np.float64], low: NDArray, high: NDArray) -> NDArray[np.float64]:
    """The values within their bounds; NaN becomes the lower one."""
    values = np.where(values > low, values, low)
    return np.where(values < high, values, high)


Formula = list[tuple[float, float, float, list[tuple[int, float]]]]
"""A leaf, dimension by dimension: constant, bounds, and `(feature, weight)` of each gain."""


def formula(constants: Sequence[float], gains: Sequence[Gain], actions: Actions) -> Formula:
    """A leaf in the form that is computed fastest for one observation."""
    found: Formula = [
        (constant, low, high, [])
        for constant, low, high in zip(constants, actions.low, actions.high, strict=True)
    ]
    for dimension, feature, weight in gains:
        found[dimension][3].append((feature, weight))
    return found


def vector_of(leaf: Formula, observation: Sequence[float]) -> list[float]:
    """The action of one leaf at one observation."""
    values = []
    for value, low, high, terms in leaf:
        for feature, weight in terms:
            value += weight * observation[feature]
        values.append((value if value < high else high) if value > low else low)
    return values


def vectors_of(
    action: NDArray[np.float64],
    gains: Gains,
    leaves: NDArray[np.int64],
    observations: NDArray,
    actions: Actions,
) -> NDArray[np.float64]:
    """The action at each row, which reaches the leaf of the same place: `vector_of` for many."""
    values = action[leaves]
    with np.errstate(over="ignore", invalid="ignore"):
        for leaf in np.unique(leaves).tolist():
            if gains[leaf]:
                rows = np.flatnonzero(leaves == leaf)
                for dimension, feature, weight in gains[leaf]:
                    column = observations[rows, feature].astype(np.float64)
                    values[rows, dimension] += weight * column
    return clipped(values, np.array(actions.low), np.array(actions.high))
