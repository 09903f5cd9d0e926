"""From observations to leaves: a plain walk for one, a partition of the rows for many.

A node is TRUE when `x[feature] > threshold` (Eq. 3). Both ways compare in float64, so an
observation reaches the same leaf alone and in a batch.
"""

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError

Nodes = list[tuple[int, float, int, int]]
"""One row per node: feature (-1 at a leaf), threshold, TRUE child, FALSE child."""


_FLOATS = {float}
FEW_ROWS = 64
BLOCK = 16384


def leaf_of(nodes: Nodes, observation: list[float]) -> int:
    """The leaf one observation reaches."""
    node = 0
    feature, threshold, if_true, if_false = nodes[0]
    while feature >= 0:
        node = if_true if observation[feature] > threshold else if_false
        feature, threshold, if_true, if_false = nodes[node]
    return node


def path_of(nodes: Nodes, observation: list[float]) -> tuple[int, ...]:
    """The nodes one observation passes, from the root to its leaf."""
    path = [0]
    while nodes[path[-1]][0] >= 0:
        feature, threshold, if_true, if_false = nodes[path[-1]]
        path.append(if_true if observation[feature] > threshold else if_false)
    return tuple(path)


def leaves_of(nodes: Nodes, observations: NDArray) -> NDArray[np.int64]:
    """The leaf each row reaches.

    For a few rows a plain walk each costs less than NumPy's calls; many go block by block, so that
    what a node picks from lies in the processor's cache.
    """
    if len(observations) <= FEW_ROWS:
        rows = observations.astype(np.float64).tolist()
        return np.array([leaf_of(nodes, row) for row in rows], dtype=np.int64)
    leaves = np.empty(len(observations), dtype=np.int64)
    for start in range(0, len(observations), BLOCK):
        _fill(leaves[start : start + BLOCK], nodes, observations[start : start + BLOCK])
    return leaves


def _fill(leaves: NDArray[np.int64], nodes: Nodes, observations: NDArray) -> None:
    """The leaf of each row. Every node splits the numbers of the rows that reach it: a row is
    looked at once per level, not once per node."""
    used = {feature for feature, _, _, _ in nodes if feature >= 0}
    columns = {feature: observations[:, feature].astype(np.float64) for feature in used}
    waiting = [(0, np.arange(len(observations)))]
    while waiting:
        node, rows = waiting.pop()
        feature, threshold, if_true, if_false = nodes[node]
        if feature < 0:
            leaves[rows] = node
        elif rows.size:
            goes_true = columns[feature].take(rows) > threshold
            waiting.append((if_true, rows.compress(goes_true)))
            waiting.append((if_false, rows.compress(~goes_true)))


def as_plain_list(observation: object, n_features: int) -> list[float] | None:
    """The values of one float observation; None if it needs the careful `as_numbers`.

    The fast way for the observations that environments return, one per step.
    """
    if (
        type(observation) is np.ndarray
        and observation.shape == (n_features,)
        and observation.dtype.char in "fd"
    ):
        return observation.tolist()
    if (
        type(observation) is list
        and len(observation) == n_features
        and set(map(type, observation)) == _FLOATS
    ):
        return observation
    return None


def as_numbers(observation: object, n_features: int) -> NDArray:
    """One observation `(F,)` or a batch `(B, F)` as an array; anything else is refused.

    NaN is not refused: it is not above any threshold, so a comparison with it is FALSE.
    """
    try:
        array = np.asarray(observation)
    except ValueError:
        array = np.empty((), dtype=object)
    if array.dtype.kind not in "biuf":
        raise CrisptreeError(
            f"an observation must be {n_features} numbers, or a batch of them; "
            f"this one is {_what(observation)}"
        )
    if array.ndim not in (1, 2) or array.shape[-1:] != (n_features,):
        raise CrisptreeError(
            f"an observation has shape ({n_features},), a batch (B, {n_features}); "
            f"this one has {array.shape}"
        )
    return array


def _what(observation: object) -> str:
    if isinstance(observation, np.ndarray):
        return f"an array of {observation.dtype}"
    return type(observation).__name__
