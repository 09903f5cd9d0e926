"""How much two policies differ in what they do, for every kind of action."""

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp.signature import Actions


def disagreement(actions: Actions, ours: NDArray, theirs: NDArray) -> NDArray[np.float64]:
    """How much the two actions of each row differ, 0 where they are equal.

    Choices differ by 0 or 1 (for several parts: by the share of parts that differ); real vectors by
    the mean square of their differences, each dimension in units of its range.
    """
    if actions.kind == "discrete":
        return (ours != theirs).astype(np.float64)
    if actions.kind == "multi_discrete":
        return (ours != theirs).mean(axis=1)
    return np.square((ours - theirs) / ranges(actions)).mean(axis=1)


def ranges(actions: Actions) -> NDArray[np.float64]:
    """The width of each dimension of a real action."""
    return np.asarray(actions.high) - np.asarray(actions.low)
