"""Where explanations play: the states a policy meets, what it earns, an episode step by step.

All of `explain` plays through this file.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.envs.score import play
from crisptree.envs.seeds import episode_seeds
from crisptree.envs.spaces import describe, make, team_size

PICTURES = "rgb_array"


@dataclass(frozen=True)
class Visited:
    """Every observation on which the policy decided, and every episode's return."""

    states: NDArray[np.float32]
    """`(states, features)`."""
    returns: NDArray[np.float64]
    """`(episodes,)`, in the order of the seeds."""


def visited(tree: CrispTree, env_id: str, seeds: list[int]) -> Visited:
    """Play one deterministic episode a seed in gymnasium's own environment, and keep the states."""
    observed = _Observed(tree)
    returns = play(observed, env_id, seeds)
    return Visited(np.concatenate(observed.states), returns)


def returns_of(tree: CrispTree, env_id: str, seeds: list[int]) -> NDArray[np.float64]:
    """The return of one deterministic episode a seed."""
    return play(tree, env_id, seeds)


def reporting_seeds(tree: CrispTree, env_id: str, episodes: int, seed: int) -> list[int]:
    """Seeds of episodes that training never saw, once the policy fits the environment."""
    refuse_other_task(tree, env_id)
    return episode_seeds("reporting", seed, episodes)


def refuse_other_task(tree: CrispTree, env_id: str) -> None:
    """Refuse a policy that has other features or actions than the environment."""
    task = describe(env_id)
    ours, theirs = (tree.n_features, tree.n_actions), (task.n_features, task.n_actions)
    if ours != theirs:
        raise CrisptreeError(
            f"the policy has {ours[0]} features and {ours[1]} actions, '{printable(env_id)}' has "
            f"{theirs[0]} and {theirs[1]}"
        )


class Step(NamedTuple):
    """What a step led to; the first is the reset."""

    observations: NDArray
    """`(agents, features)`."""
    reward: float
    ended: str
    """`terminated`, `was truncated`, or nothing."""


def make_with_pictures(env_id: str) -> gym.Env:
    """The environment, drawing RGB pictures if it can: see its `render_mode`."""
    env = make(env_id)
    if PICTURES not in (env.metadata.get("render_modes") or ()):
        return env
    env.close()
    return make(env_id, render_mode=PICTURES)


def steps(tree: CrispTree, env: gym.Env, seed: int) -> Iterator[Step]:
    """One deterministic episode, without end if the environment has none."""
    n_agents = team_size(env)
    start = int(getattr(env.action_space, "start", 0)) if n_agents is None else 0
    rows = lambda seen: np.array(seen).reshape(n_agents or 1, -1)
    step = Step(rows(env.reset(seed=seed)[0]), 0.0, "")
    yield step
    while not step.ended:
        actions = (tree.predict(step.observations)[0] + start).tolist()
        at, reward, terminated, truncated, _ = env.step(actions if n_agents else actions[0])
        ended = "terminated" if terminated else "was truncated" if truncated else ""
        step = Step(rows(at), float(reward), ended)
        yield step


class _Observed:
    """A policy that remembers the observations it was given."""

    def __init__(self, tree: CrispTree) -> None:
        self._tree = tree
        self.states: list[NDArray[np.float32]] = []

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
    ) -> tuple[Any, Any]:
        self.states.append(np.array(observation, np.float32))
        return self._tree.predict(observation, state, episode_start, deterministic)
