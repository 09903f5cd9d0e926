"""What an export must give: the environment's action, and the rule for NaN."""

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.linear import vectors_of


def expected(tree: CrispTree, states: NDArray) -> NDArray:
    """The action for each row: int64 choices counted from the environment's start, `(N,)` or
    `(N, parts)`, or float64 vectors `(N, dimensions)`.

    This is what `predict` gives, before it is rounded to the environment's type. A feature that is
    NaN, which `predict` refuses, makes every comparison with it FALSE, as minus infinity would; a
    formula that it enters gives its lower bound.
    """
    missing = np.isnan(states)
    routed = np.where(missing, -np.inf, states)
    if tree.actions.kind != "box":
        return tree.act(routed) + np.array(tree.actions.start or 0)
    leaves = tree.apply(routed)
    return vectors_of(tree.action, tree.gains, leaves, states, tree.actions)
