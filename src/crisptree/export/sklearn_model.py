"""A tree as scikit-learn's own: `export_text`, `plot_tree` and the rest.

Choices become a DecisionTreeClassifier, constant vectors a DecisionTreeRegressor. Our TRUE
(`x > threshold`) is scikit-learn's right child and our FALSE its left (`x <= threshold`); a missing
value goes left. It takes observations as float32 and compares them with float64 thresholds, so on
float32 observations the two decide alike.

Nodes are numbered as scikit-learn numbers them, depth first and left first: its drawings label the
branches by these numbers.

Nothing was fitted, so the counts that its drawings show are made of leaves: `samples` is how many
leaves lie below a node, `value` how they share out among the actions, or their mean.
"""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree

LEAF_FEATURE = -2
"""scikit-learn's mark of a leaf in `tree_.feature` and `tree_.threshold`."""


def as_sklearn(tree: CrispTree) -> Any:
    """A fitted DecisionTreeClassifier whose classes are the environment's numbers of the actions,
    or a DecisionTreeRegressor."""
    if tree.is_linear:
        raise CrisptreeError(
            "scikit-learn's trees have constant leaves and this policy's are linear; "
            "python, c, rust, javascript, onnx, sql, st and plcopen can say them"
        )
    if len(tree.features) > tree.n_features:
        raise CrisptreeError(
            "scikit-learn's trees ask for single features and this policy for sums of them; "
            "python, c, rust, javascript, onnx, sql, st and plcopen can say them"
        )
    try:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    except ImportError:
        raise CrisptreeError(
            "this export needs scikit-learn; pip install 'crisptree[train]' brings it"
        ) from None
    is_box = tree.actions.kind == "box"
    model: Any = (DecisionTreeRegressor if is_box else DecisionTreeClassifier)(
        max_depth=max(1, tree.depth)
    )
    # scikit-learn keeps the layout of its nodes to itself: a tree it fitted shows it.
    model.fit(np.zeros((2, tree.n_features), np.float32), [0, 1])
    sizes = _sizes(tree)
    values, impurity = _means(tree) if is_box else _shares(tree, sizes)
    model.tree_ = _inside(tree, model.tree_, values, impurity, sizes)
    model.n_outputs_ = tree.actions.n_values
    if not is_box:
        start = tree.actions.start or (0,) * len(sizes)
        classes = [np.arange(size) + first for size, first in zip(sizes, start, strict=True)]
        several = len(sizes) > 1
        model.classes_ = classes if several else classes[0]
        model.n_classes_ = sizes if several else sizes[0]
    return model


def _sizes(tree: CrispTree) -> list[int]:
    """How many classes each output has; a number has one."""
    if tree.actions.kind == "box":
        return [1] * tree.actions.n_values
    if tree.actions.kind == "discrete":
        return [tree.n_actions]
    return [len(choices) for choices in tree.actions.choices]


def _inside(
    tree: CrispTree, fitted: Any, values: NDArray, impurity: NDArray, sizes: list[int]
) -> Any:
    """The nodes as scikit-learn keeps them."""
    order = _left_first(tree)
    number = np.empty_like(order)
    number[order] = np.arange(tree.n_nodes)
    is_leaf = tree.feature[order] < 0
    samples = _sums(tree, np.ones(tree.n_nodes))[order]
    nodes: Any = np.zeros(tree.n_nodes, dtype=fitted.__getstate__()["nodes"].dtype)
    nodes["left_child"] = np.where(is_leaf, -1, number[tree.if_false[order]])
    nodes["right_child"] = np.where(is_leaf, -1, number[tree.if_true[order]])
    nodes["feature"] = np.where(is_leaf, LEAF_FEATURE, tree.feature[order])
    nodes["threshold"] = np.where(is_leaf, LEAF_FEATURE, tree.threshold[order])
    nodes["missing_go_to_left"] = ~is_leaf
    nodes["impurity"] = impurity[order]
    nodes["n_node_samples"] = samples
    nodes["weighted_n_node_samples"] = samples
    found = type(fitted)(tree.n_features, np.array(sizes, dtype=np.intp), len(sizes))
    found.__setstate__(
        {
            "max_depth": tree.depth,
            "node_count": tree.n_nodes,
            "nodes": nodes,
            "values": np.ascontiguousarray(values[order]),
        }
    )
    return found


def _shares(tree: CrispTree, sizes: list[int]) -> tuple[NDArray, NDArray]:
    """How the leaves below each node share out, `(nodes, outputs, classes)`, and the impurity."""
    chosen = np.zeros((tree.n_nodes, len(sizes), max(sizes)))
    rows = tree.action.reshape(tree.n_nodes, len(sizes))
    for leaf in np.flatnonzero(tree.feature < 0).tolist():
        chosen[leaf, np.arange(len(sizes)), rows[leaf]] = 1.0
    shares = _sums(tree, chosen) / _sums(tree, np.ones((tree.n_nodes, 1, 1)))
    return shares, (1 - (shares**2).sum(axis=2)).mean(axis=1)


def _means(tree: CrispTree) -> tuple[NDArray, NDArray]:
    """The mean action of the leaves below each node, `(nodes, outputs, 1)`, and the variance."""
    count = _sums(tree, np.ones((tree.n_nodes, 1)))
    means = _sums(tree, tree.action) / count
    variance = _sums(tree, tree.action**2) / count - means**2
    return means[:, :, None], np.maximum(variance, 0.0).mean(axis=1)


def _sums(tree: CrispTree, of_leaves: NDArray) -> NDArray:
    """For every node the sum over the leaves below it."""
    found = np.array(of_leaves, dtype=np.float64)
    for node in reversed(tree.order):
        feature, _, if_true, if_false = tree.nodes[node]
        if feature >= 0:
            found[node] = found[if_true] + found[if_false]
    return found


def _left_first(tree: CrispTree) -> NDArray[np.int64]:
    """The nodes in scikit-learn's order."""
    order: list[int] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        feature, _, if_true, if_false = tree.nodes[node]
        waiting += [] if feature < 0 else [if_true, if_false]
    return np.array(order, dtype=np.int64)


def as_joblib(tree: CrispTree) -> bytes:
    """The model as `joblib.load` reads it. A joblib file can run code: load only your own."""
    model = as_sklearn(tree)
    import joblib

    file = io.BytesIO()
    joblib.dump(model, file)
    return file.getvalue()


def decider(content: bytes) -> Callable[[NDArray], NDArray]:
    """What `joblib.load` makes of the file."""
    import joblib

    model = joblib.load(io.BytesIO(content))

    def decide(states: NDArray) -> NDArray:
        with np.errstate(invalid="ignore", over="ignore"):  # it sums states, some of them huge
            return model.predict(states).reshape(len(states), -1)

    return decide
