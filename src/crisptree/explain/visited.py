"""The states a policy really meets, and what it earns there."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.envs.score import play
from crisptree.envs.seeds import episode_seeds
from crisptree.envs.spaces import describe


@dataclass(frozen=True)
class Visited:
    """Every observation on which the policy decided, and every episode's return."""

    states: NDArray[np.float32]
    """`(states, features)`."""
    returns: NDArray[np.float64]
    """`(episodes,)`, in the order of the seeds."""


def visited(tree: CrispTree, env_id: str, seeds: list[int]) -> Visited:
    """Play one episode a seed, greedily, in gymnasium's own environment."""
    watched = _Watched(tree)
    returns = play(watched, env_id, seeds)
    return Visited(np.concatenate(watched.seen), returns)


def reporting_seeds(tree: CrispTree, env_id: str, episodes: int, seed: int) -> list[int]:
    """Seeds of episodes that training never saw, once the policy fits the environment."""
    task = describe(env_id)
    ours, theirs = (tree.n_features, tree.n_actions), (task.n_features, task.n_actions)
    if ours != theirs:
        raise CrisptreeError(
            f"the policy has {ours[0]} features and {ours[1]} actions, '{env_id}' has {theirs[0]} "
            f"and {theirs[1]}"
        )
    return episode_seeds("reporting", seed, episodes)


class _Watched:
    """A policy that remembers what it was asked."""

    def __init__(self, tree: CrispTree) -> None:
        self._tree = tree
        self.seen: list[NDArray[np.float32]] = []

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
    ) -> tuple[Any, Any]:
        self.seen.append(np.array(observation, np.float32))
        return self._tree.predict(observation, state, episode_start, deterministic)
