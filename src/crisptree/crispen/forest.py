"""Many crisp trees played at once in environments outside JAX: one pool, one routing for all."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.crispen.rounding import rounded_down
from crisptree.envs.cartpole_rows import play_rows
from crisptree.envs.host import envpool_has
from crisptree.envs.registry import plays_in_rows
from crisptree.envs.score import play, play_pool

FEW_LEAVES = 16
"""Up to which it is faster to ask everything than to look up where each row goes on."""


class Question(NamedTuple):
    """A node of a small tree, and what is below it: another question, or an action."""

    feature: int
    threshold: np.float32
    if_true: "Question | np.integer"
    if_false: "Question | np.integer"


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
        is_small = len(trees) == 1 and trees[0].n_leaves <= FEW_LEAVES
        self._alone = _nested(trees[0]) if is_small else None

    def actions(self, tree: np.ndarray, observation: np.ndarray) -> np.ndarray:
        """What tree `tree[i]` does at `observation[i]`."""
        if self._alone is not None and observation.dtype == np.float32:
            return np.broadcast_to(_by_columns(self._alone, observation.T), len(tree))
        n_features = observation.shape[1]
        node, flat = self._root[tree], np.ascontiguousarray(observation).ravel()
        rows = np.arange(0, len(flat), n_features)
        for _ in range(self._depth):
            goes_true = flat.take(rows + self._feature.take(node)) > self._threshold.take(node)
            node = self._children.take(2 * node + goes_true)
        return self._action.take(node)


def _nested(tree: CrispTree) -> Question | np.integer:
    thresholds = rounded_down(tree.threshold)

    def below(node: int) -> Question | np.integer:
        feature = int(tree.feature[node])
        if feature < 0:
            return np.int16(tree.action[node])
        if_true, if_false = int(tree.if_true[node]), int(tree.if_false[node])
        return Question(feature, thresholds[node], below(if_true), below(if_false))

    return below(0)


def _by_columns(at: Question | np.integer, columns: np.ndarray) -> np.ndarray | np.integer:
    """What a small tree does: each of its questions is put to all rows, which are columns here."""
    if not isinstance(at, Question):
        return at
    goes_true = columns[at.feature] > at.threshold
    return np.where(goes_true, _by_columns(at.if_true, columns), _by_columns(at.if_false, columns))


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
