"""Many crisp trees played at once in environments outside JAX: one pool, one routing for all."""

from collections.abc import Sequence

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.envs.host import envpool_has
from crisptree.envs.score import play, play_pool


class Forest:
    """Trees of one task in one table of nodes; a leaf leads to itself."""

    def __init__(self, trees: Sequence[CrispTree]) -> None:
        sizes = [tree.n_nodes for tree in trees]
        self._root = np.cumsum([0, *sizes[:-1]])
        own = np.arange(sum(sizes))
        shift = np.repeat(self._root, sizes)

        def column(name: str) -> np.ndarray:
            return np.concatenate([getattr(tree, name) for tree in trees])

        leaf = column("feature") < 0
        self._feature = np.where(leaf, 0, column("feature"))
        self._threshold = column("threshold")
        self._if_true = np.where(leaf, own, column("if_true") + shift)
        self._if_false = np.where(leaf, own, column("if_false") + shift)
        self._action = column("action").astype(np.int64)
        self._depth = max(tree.depth for tree in trees)

    def actions(self, tree: np.ndarray, observation: np.ndarray) -> np.ndarray:
        """What tree `tree[i]` does at `observation[i]`."""
        node, rows = self._root[tree], np.arange(len(tree))
        for _ in range(self._depth):
            goes_true = observation[rows, self._feature[node]] > self._threshold[node]
            node = np.where(goes_true, self._if_true[node], self._if_false[node])
        return self._action[node]


def play_forest(
    trees: Sequence[CrispTree], env_id: str, first_seed: int, episodes: int
) -> np.ndarray:
    """Returns `(trees, episodes)`; every tree meets the same episodes."""
    seeds = range(first_seed, first_seed + episodes)
    if not envpool_has(env_id):
        return np.stack([play(tree, env_id, seeds) for tree in trees])
    forest = Forest(trees)
    returns = play_pool(
        lambda number, at: forest.actions(number // episodes, at), env_id, [*seeds] * len(trees)
    )
    return returns.reshape(len(trees), episodes)
