"""A tree as scikit-learn's DecisionTreeClassifier: `export_text`, `plot_tree` and the rest.

Our TRUE (`x > threshold`) is scikit-learn's right child and our FALSE its left (`x <= threshold`).
It takes observations as float32 and compares them with float64 thresholds, so on float32
observations the two decide alike.

Nodes are numbered as scikit-learn numbers them, depth first and left first: its drawings label the
branches by these numbers.

Nothing was fitted, so the counts that its drawings show are made of leaves: `samples` is how many
leaves lie below a node, `value` how they share out among the actions.
"""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree

LEAF_FEATURE = -2
"""scikit-learn's mark of a leaf in `tree_.feature` and `tree_.threshold`."""


def as_sklearn(tree: CrispTree) -> Any:
    """A fitted DecisionTreeClassifier whose classes are the numbers of the actions."""
    from sklearn.tree import DecisionTreeClassifier
    from sklearn.tree._tree import Tree

    classifier: Any = DecisionTreeClassifier(max_depth=max(1, tree.depth))
    # scikit-learn keeps the layout of its nodes to itself: a tree it fitted shows it.
    classifier.fit(np.zeros((2, tree.n_features), np.float32), [0, 1])
    layout = classifier.tree_.__getstate__()["nodes"].dtype

    order = _left_first(tree)
    number = np.empty_like(order)
    number[order] = np.arange(tree.n_nodes)
    is_leaf = tree.feature[order] < 0
    leaves = _leaves_below(tree, order)[order]
    samples = leaves.sum(axis=1)
    shares = leaves / samples[:, None]
    nodes: Any = np.zeros(tree.n_nodes, dtype=layout)
    nodes["left_child"] = np.where(is_leaf, -1, number[tree.if_false[order]])
    nodes["right_child"] = np.where(is_leaf, -1, number[tree.if_true[order]])
    nodes["feature"] = np.where(is_leaf, LEAF_FEATURE, tree.feature[order])
    nodes["threshold"] = np.where(is_leaf, LEAF_FEATURE, tree.threshold[order])
    nodes["impurity"] = 1 - (shares**2).sum(axis=1)
    nodes["n_node_samples"] = samples
    nodes["weighted_n_node_samples"] = samples

    classes = np.array([tree.n_actions], dtype=np.intp)
    inside: Any = Tree(tree.n_features, classes, 1)
    inside.__setstate__(
        {
            "max_depth": tree.depth,
            "node_count": tree.n_nodes,
            "nodes": nodes,
            "values": np.ascontiguousarray(shares[:, None, :]),
        }
    )
    classifier.tree_ = inside
    classifier.classes_ = np.arange(tree.n_actions)
    classifier.n_classes_ = tree.n_actions
    return classifier


def as_joblib(tree: CrispTree) -> bytes:
    """The classifier as `joblib.load` reads it. A joblib file can run code: load only your own."""
    import joblib

    file = io.BytesIO()
    joblib.dump(as_sklearn(tree), file)
    return file.getvalue()


def decider(content: bytes) -> Callable[[NDArray], NDArray[np.int64]]:
    """What `joblib.load` makes of the file."""
    import joblib

    classifier = joblib.load(io.BytesIO(content))

    def decide(states: NDArray) -> NDArray[np.int64]:
        with np.errstate(invalid="ignore"):  # its sum over all states, of which some are huge
            return classifier.predict(states)

    return decide


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


def _leaves_below(tree: CrispTree, order: NDArray[np.int64]) -> NDArray[np.float64]:
    """How many leaves of each action lie below each node, `(nodes, actions)`."""
    counts = np.zeros((tree.n_nodes, tree.n_actions))
    for node in reversed(order.tolist()):
        feature, _, if_true, if_false = tree.nodes[node]
        if feature < 0:
            counts[node, tree.action[node]] = 1
        else:
            counts[node] = counts[if_true] + counts[if_false]
    return counts
