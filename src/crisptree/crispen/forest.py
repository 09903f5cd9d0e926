"""Many crisp trees played at once in environments outside JAX: one pool, one routing for all."""

from collections.abc import Sequence

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.envs.cartpole_rows import play_rows
from crisptree.envs.host import envpool_has
from crisptree.envs.registry import plays_in_rows
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
        if_true, if_false = (
            np.where(leaf, own, column(name) + shift) for name in ("if_true", "if_false")
        )
        self._children = np.stack([if_false, if_true], axis=1).ravel()
        self._action = column("action").astype(np.int64)
        self._depth = max(tree.depth for tree in trees)

    def actions(self, tree: np.ndarray, observation: np.ndarray) -> np.ndarray:
        """What tree `tree[i]` does at `observation[i]`."""
        n_features = observation.shape[1]
        node, flat = self._root[tree], np.ascontiguousarray(observation).ravel()
        rows = np.arange(0, len(flat), n_features)
        for _ in range(self._depth):
            goes_true = flat.take(rows + self._feature.take(node)) > self._threshold.take(node)
            node = self._children.take(2 * node + goes_true)
        return self._action.take(node)


def play_forest(
    trees: Sequence[CrispTree], env_id: str, seeds: Sequence[int], *, strict: bool = False
) -> np.ndarray:
    """Returns `(trees, episodes)`, an episode a seed. Where a greatest return is known and it is
    `strict`, a tree may end all its episodes where the first falls short of it."""
    in_rows = plays_in_rows(env_id)
    if not in_rows and not envpool_has(env_id):
        return np.stack([play(tree, env_id, seeds) for tree in trees])
    forest, episodes = Forest(trees), len(seeds)

    def decide(number: np.ndarray, at: np.ndarray) -> np.ndarray:
        return forest.actions(number // episodes, at)

    every = [*seeds] * len(trees)
    if in_rows:
        player = np.repeat(np.arange(len(trees)), episodes) if strict else None
        returns = play_rows(decide, every, player=player)
    else:
        returns = play_pool(decide, env_id, every)
    return returns.reshape(len(trees), episodes)
