"""Where explanations play: the states a policy meets, what it earns.

All of `explain` plays through this file and the recorder, and both through `envs.rollout`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.envs.rollout import rollout
from crisptree.envs.seeds import episode_seeds
from crisptree.envs.task import Task, task_of_policy


@dataclass(frozen=True)
class Visited:
    """Every observation on which the policy decided, and every episode's return."""

    states: NDArray[np.float32]
    """`(states, features)`."""
    returns: NDArray[np.float64]
    """`(episodes,)`, in the order of the seeds."""


def visited(tree: CrispTree, env: str | Task, seeds: list[int]) -> Visited:
    """The states of one deterministic episode for each seed in the real environment."""
    played = rollout([tree], task_for(tree, env), seeds, record=True)
    assert played.observations is not None
    return Visited(played.observations, played.returns[0])


def returns_of(tree: CrispTree, env: str | Task, seeds: list[int]) -> NDArray[np.float64]:
    """The return of one deterministic episode for each seed."""
    return rollout([tree], task_for(tree, env), seeds).returns[0]


def reporting_seeds(tree: CrispTree, env: str | Task, episodes: int, seed: int) -> list[int]:
    """Seeds of episodes that training never saw, once the policy fits the environment."""
    task_for(tree, env)
    return episode_seeds("reporting", seed, episodes)


def task_for(tree: CrispTree, env: str | Task) -> Task:
    """The environment as a task; a policy that has other features or actions is refused."""
    return task_of_policy(tree, env)
