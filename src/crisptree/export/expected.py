"""The action that an export must give, and the rule for NaN."""

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.linear import vectors_of


def expected(tree: CrispTree, states: NDArray) -> NDArray:
    """The action for each row: int64 choices counted from the environment's start, `(N,)` or
    `(N, parts)`, or float64 vectors `(N, dimensions)`.

    This is what `predict` gives, before it is rounded to the environment's type. A feature that is
    NaN makes every comparison with it FALSE; a formula that it enters gives its lower bound.
    """
    if tree.actions.kind != "box":
        return tree.act(states) + np.array(tree.actions.start or 0)
    return vectors_of(tree.action, tree.gains, tree.apply(states), states, tree.actions)
