"""Plays for explanations: the states that policies visit, and what they earn.

All of `explain` plays through this file, and this file through `rollout`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.envs.play import Rollouts
from crisptree.envs.rollout import rollout
from crisptree.envs.seeds import episode_seeds
from crisptree.envs.task import Task


@dataclass(frozen=True)
class Visited:
    """Every observation on which the policy decided, and every episode's return."""

    states: NDArray[np.float32]
    """`(states, features)`."""
    returns: NDArray[np.float64]
    """`(episodes,)`, in the order of the seeds."""


def reporting_seeds(episodes: int, seed: int) -> list[int]:
    """Seeds of episodes that training never saw."""
    return episode_seeds("reporting", seed, episodes)


def visited(tree: CrispTree, task: Task, seeds: Sequence[int]) -> Visited:
    """Play one deterministic episode per seed in the real environment, and keep the states."""
    played = rollout([tree], task, seeds, record=True)
    assert played.observations is not None
    return Visited(played.observations, played.returns[0])


def returns_of(
    trees: Sequence[CrispTree],
    task: Task,
    seeds: Sequence[int],
    on_episode: Callable[[int], None] | None = None,
) -> NDArray[np.float64]:
    """The return of every tree in every episode, `(trees, episodes)`."""
    return rollout(trees, task, seeds, on_episode=on_episode).returns


def recorded(
    tree: CrispTree,
    task: Task,
    seeds: Sequence[int],
    *,
    max_steps: int,
    on_picture: Callable[[int, NDArray], None] | None = None,
) -> Rollouts:
    """One recorded episode per seed; `on_picture` gets the episode's number and each picture."""
    takes = None if on_picture is None else lambda _, episode, seen: on_picture(episode, seen)
    return rollout([tree], task, seeds, record=True, max_steps=max_steps, on_picture=takes)
