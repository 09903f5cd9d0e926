"""Many crisp trees in one table of nodes, so that all of them are routed together."""

from collections.abc import Sequence

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.crisp.derived import in_common, with_columns
from crisptree.crisp.linear import Gain, clipped


class Forest:
    """Trees of one task in one table of nodes; a leaf leads to itself."""

    def __init__(self, trees: Sequence[CrispTree]) -> None:
        sizes = [tree.n_nodes for tree in trees]
        self._root = np.cumsum([0, *sizes[:-1]])
        own = np.arange(sum(sizes))
        shift = np.repeat(self._root, sizes)

        def column(name: str) -> np.ndarray:
            return np.concatenate([getattr(tree, name) for tree in trees])

        self._derived, places = in_common([tree.features for tree in trees])
        leaf = column("feature") < 0
        asked = [at[tree.feature] for at, tree in zip(places, trees, strict=True)]
        self._feature = np.where(leaf, 0, np.concatenate(asked))
        self._threshold = column("threshold")
        if_true, if_false = (
            np.where(leaf, own, column(name) + shift) for name in ("if_true", "if_false")
        )
        self._children = np.stack([if_false, if_true], axis=1).ravel()
        action = column("action")
        self._action = action.astype(np.int64) if action.dtype.kind == "i" else action
        self._depth = max(tree.depth for tree in trees)
        actions = trees[0].actions
        gains = [gains for tree in trees for gains in tree.gains]
        self._gains = _Gains(gains, len(actions.low))
        bounds = np.array(actions.low), np.array(actions.high)
        self._bounds = bounds if actions.kind == "box" else None

    def act(self, tree: np.ndarray, observations: np.ndarray) -> np.ndarray:
        """The action of tree `tree[i]` at `observations[i]`, as `CrispTree.act` gives it."""
        observations = with_columns(observations, self._derived)
        n_features = observations.shape[1]
        node, flat = self._root[tree], np.ascontiguousarray(observations).ravel()
        rows = np.arange(0, len(flat), n_features)
        for _ in range(self._depth):
            goes_true = flat.take(rows + self._feature.take(node)) > self._threshold.take(node)
            node = self._children.take(2 * node + goes_true)
        action = self._action.take(node, axis=0)
        if self._bounds is not None:
            action = clipped(self._gains.added(action, node, observations), *self._bounds)
        return action


class _Gains:
    """Sparse linear terms of all nodes, for each dimension padded to a common number of terms."""

    def __init__(self, of_nodes: Sequence[Sequence[Gain]], n_values: int) -> None:
        terms: dict[tuple[int, int], list[Gain]] = {}
        for node, gains in enumerate(of_nodes):
            for gain in gains:
                terms.setdefault((node, gain.dimension), []).append(gain)
        shape = max(map(len, terms.values()), default=0), len(of_nodes), n_values
        self._feature, self._weight = np.zeros(shape, np.int64), np.zeros(shape)
        for (node, dimension), gains in terms.items():
            for term, gain in enumerate(gains):
                self._feature[term, node, dimension] = gain.feature
                self._weight[term, node, dimension] = gain.weight

    def added(self, action: np.ndarray, node: np.ndarray, observations: np.ndarray) -> np.ndarray:
        """The actions with the terms of their nodes added, one after the other as a tree does."""
        action, rows = np.array(action, np.float64), np.arange(len(action))[:, None]
        for feature, weight in zip(self._feature, self._weight, strict=True):
            action += weight[node] * observations[rows, feature[node]]
        return action
