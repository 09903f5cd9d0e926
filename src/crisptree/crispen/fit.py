"""Crisp trees fitted to labelled states: CART for every kind of action, leaves constant."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.derived import terms_of, with_columns
from crisptree.crisp.rounding import rounded_down
from crisptree.crispen.agreement import ranges
from crisptree.envs.task import Task

MIN_SAMPLES_LEAF = 5

Fit = Callable[[NDArray, NDArray, NDArray | None, int, Task, int], CrispTree]
"""From states, actions, weights (or None), most leaves, task and seed to a crisp tree."""


def fit_cart(
    states: NDArray,
    actions: NDArray,
    weights: NDArray | None,
    n_leaves: int,
    task: Task,
    seed: int,
) -> CrispTree:
    """A tree by CART (scikit-learn); its left is `x <= t`, our FALSE."""
    # Imported here, since it takes as long to import as JAX and the direct route never needs it.
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    states = with_columns(states, terms_of(task.features))
    settings: dict[str, Any] = {"min_samples_leaf": MIN_SAMPLES_LEAF, "random_state": seed % 2**32}
    settings["max_leaf_nodes"] = max(2, n_leaves)
    if task.actions.kind == "box":
        cart = DecisionTreeRegressor(**settings)
        cart.fit(states, actions / ranges(task.actions), sample_weight=weights)
        at_leaves = cart.tree_.value[:, :, 0] * ranges(task.actions)
    else:
        cart = DecisionTreeClassifier(**settings)
        cart.fit(states, actions, sample_weight=weights)
        at_leaves = _favourites(cart)
        if task.actions.kind == "multi_discrete":  # scikit-learn drops the axis of a single part
            at_leaves = at_leaves.reshape(len(at_leaves), -1)
    return _from_sklearn(cart.tree_, at_leaves, task).simplify()


def _favourites(cart: Any) -> NDArray[np.int64]:
    """The likeliest choice at each node: `(nodes,)`, or `(nodes, parts)`."""
    values = cart.tree_.value
    if isinstance(cart.classes_, list):
        parts = [
            classes[values[:, part, : len(classes)].argmax(1)]
            for part, classes in enumerate(cart.classes_)
        ]
        return np.stack(parts, 1).astype(np.int64)
    return cart.classes_[values[:, 0].argmax(1)].astype(np.int64)


def _from_sklearn(tree: Any, at_leaves: NDArray, task: Task) -> CrispTree:
    leaf = tree.children_left < 0
    nothing = 0.0 if task.actions.kind == "box" else -1
    mask = leaf if at_leaves.ndim == 1 else leaf[:, None]
    return CrispTree(
        feature=np.where(leaf, -1, tree.feature),
        threshold=np.where(leaf, 0.0, rounded_down(tree.threshold).astype(np.float64)),
        if_true=tree.children_right,
        if_false=tree.children_left,
        action=np.where(mask, at_leaves, nothing),
        **task.signature,
    )
