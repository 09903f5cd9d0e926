"""A task of three features for every kind of action; its environment is never stepped."""

import gymnasium as gym
import numpy as np

from crisptree.envs.task import Task, task_of


class Spaces(gym.Env):
    """An environment that is nothing but its spaces."""

    metadata = {"render_modes": [], "feature_names": ("a", "b", "c")}  # noqa: RUF012

    def __init__(self, action_space: gym.Space) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (3,), np.float32)
        self.action_space = action_space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(3, np.float32), {}

    def step(self, action):
        return np.zeros(3, np.float32), 0.0, False, False, {}


def task_with(action_space: gym.Space) -> Task:
    return task_of(lambda: Spaces(action_space))


DISCRETE = task_with(gym.spaces.Discrete(4))
PARTS = task_with(gym.spaces.MultiDiscrete([2, 3]))
BOX = task_with(gym.spaces.Box(np.array([-2, 0], np.float32), np.array([2, 10], np.float32)))
KINDS = {"discrete": DISCRETE, "multi_discrete": PARTS, "box": BOX}
