"""Returns on reporting episodes, one number an episode, and greedy policies to be scored."""

from collections.abc import Sequence

import gymnasium as gym
import numpy as np

from crisptree.crispen.distill import Teacher
from crisptree.envs.registry import is_functional
from crisptree.envs.score import Policy, play, quick_play
from crisptree.envs.seeds import block_seed, episode_seeds
from crisptree.envs.spaces import make, team_size

SELECTION_EPISODES = 128


class Acting:
    """A function from observations to actions as a policy."""

    def __init__(self, act: Teacher) -> None:
        self._act = act

    def predict(
        self, observation, state=None, episode_start=None, deterministic: bool = True
    ) -> tuple[np.ndarray, None]:
        return self._act(np.asarray(observation, np.float32)), None


def reported(policy: Policy, env_id: str, seed: int, episodes: int) -> tuple[float, ...]:
    """The return of each reporting episode of `seed`: those that `crisptree evaluate` plays."""
    seeds = episode_seeds("reporting", seed, episodes)
    returns = play_team(policy, env_id, seeds) if is_team(env_id) else play(policy, env_id, seeds)
    return tuple(float(value) for value in returns)


def selected(policy: Policy, env_id: str, seed: int) -> float:
    """Mean return on selection episodes: what runs are chosen by."""
    first = block_seed("selection", SELECTION_EPISODES, seed, 7)
    if is_team(env_id):
        returns = play_team(policy, env_id, range(first, first + SELECTION_EPISODES))
    else:
        returns = quick_play(policy, env_id, first, SELECTION_EPISODES)
    return float(np.mean(returns))


def is_team(env_id: str) -> bool:
    """Whether the id is one of our simulators with several agents."""
    if not is_functional(env_id):
        return False
    env = make(env_id)
    size = team_size(env)
    env.close()
    return size is not None


def play_team(policy: Policy, env_id: str, seeds: Sequence[int]) -> np.ndarray:
    """The same returns as `play`'s, with all episodes in one compiled step."""
    envs = gym.make_vec(env_id, num_envs=len(seeds), vectorization_mode="vector_entry_point")
    at, _ = envs.reset(seed=[int(seed) for seed in seeds])  # pyright: ignore[reportArgumentType]
    returns, running = np.zeros(len(seeds)), np.ones(len(seeds), bool)
    while running.any():
        rows = np.asarray(at, np.float32).reshape(-1, at.shape[-1])
        actions = np.asarray(policy.predict(rows, deterministic=True)[0])
        at, reward, terminated, truncated, _ = envs.step(actions.reshape(len(seeds), -1))
        returns += np.where(running, reward, 0.0)
        running &= ~(terminated | truncated)
    envs.close()
    return returns
