"""Tasks of a given size and given names, for tests that play nothing."""

import gymnasium as gym
import numpy as np

from crisptree.envs.task import Task, task_of


class Plain(gym.Env):
    """Never goes anywhere."""

    def __init__(self, feature_names, action_space, action_names=None) -> None:
        self.metadata = {"feature_names": list(feature_names)}
        if action_names is not None:
            self.metadata["action_names"] = list(action_names)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (len(feature_names),))
        self.action_space = action_space
        self._nothing = np.zeros(len(feature_names), np.float32)

    def reset(self, *, seed=None, options=None):
        return self._nothing.copy(), {}

    def step(self, action):
        return self._nothing.copy(), 0.0, True, False, {}


def plain_task(feature_names, action_names) -> Task:
    """One with discrete actions."""
    space = gym.spaces.Discrete(len(action_names))
    return task_of(lambda: Plain(feature_names, space, action_names))


def box_task(feature_names, low, high) -> Task:
    """One with real actions."""
    space = gym.spaces.Box(np.array(low, np.float32), np.array(high, np.float32))
    return task_of(lambda: Plain(feature_names, space))


def multi_task(feature_names, sizes) -> Task:
    """One with a choice for each of several parts."""
    return task_of(lambda: Plain(feature_names, gym.spaces.MultiDiscrete(sizes)))
