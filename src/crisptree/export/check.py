"""An export must decide as the tree does before anybody gets it."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.export.states import RANDOM_STATES, states


class ExportError(RuntimeError):
    """An export decides otherwise than its tree. A fault of crisptree or of the runtime that read
    the export, not of the user."""


def check(
    tree: CrispTree,
    decide: Callable[[NDArray], NDArray],
    dtype: Any,
    count: int = RANDOM_STATES,
    seed: int = 0,
) -> int:
    """On how many observations of `dtype` the two agree; a single difference raises."""
    tried = states(tree, dtype, count, seed)
    expected, _ = tree.predict(tried)
    found = np.asarray(decide(tried))
    if found.shape != expected.shape:
        raise ExportError(f"{len(tried)} observations gave {found.shape} actions")
    wrong = np.flatnonzero(found != expected)
    if wrong.size:
        at = int(wrong[0])
        raise ExportError(
            f"on {wrong.size} of {len(tried)} observations the export decides otherwise; for "
            f"{tried[at].tolist()} it says {found[at]}, the tree {expected[at]}"
        )
    return len(tried)
