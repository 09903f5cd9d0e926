"""An export must decide as the tree does before anybody gets it."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.export.expected import expected
from crisptree.export.states import RANDOM_STATES, states, with_missing


class ExportError(RuntimeError):
    """An export decides differently than its tree.

    This is a fault of crisptree or of the program that read the export, not of the user.
    """


def check(
    tree: CrispTree,
    decide: Callable[[NDArray], NDArray],
    dtype: Any,
    count: int = RANDOM_STATES,
    seed: int = 0,
) -> int:
    """On how many observations of `dtype` the two agree; a single difference raises.

    Among them are observations with NaN. Real vectors agree when they are equal in the type that
    the export gives.
    """
    tried = states(tree, dtype, count, seed)
    tried = np.concatenate([tried, with_missing(tried, seed)])
    compare(tried, np.asarray(decide(tried)), expected(tree, tried))
    return len(tried)


def compare(tried: NDArray, found: NDArray, wanted: NDArray) -> None:
    """Raise at the first row in which an export's actions differ from the policy's."""
    if found.shape == (*wanted.shape, 1):
        found = found[..., 0]
    if found.shape != wanted.shape:
        raise ExportError(
            f"{len(tried)} observations gave actions of shape {found.shape}, not {wanted.shape}"
        )
    if found.dtype.kind == "f":
        wanted = wanted.astype(found.dtype)
    wrong = np.flatnonzero((found != wanted).reshape(len(tried), -1).any(axis=1))
    if wrong.size:
        at = int(wrong[0])
        raise ExportError(
            f"on {wrong.size} of {len(tried)} observations the export decides differently; for "
            f"{tried[at].tolist()} it says {found[at].tolist()}, the tree {wanted[at].tolist()}"
        )
