"""Small environments that the tests are about; `make_task` needs no registration."""

import copy
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from crisptree.envs.task import Task, task_of

LINE = spaces.Box(-1, 1, (3,), np.float32)
TWO = spaces.Discrete(2)


class Still(gymnasium.Env):
    """An environment that is nothing but its spaces; episodes end after five steps."""

    def __init__(
        self,
        seen: spaces.Space = LINE,
        done: spaces.Space = TWO,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self.observation_space, self.action_space = copy.deepcopy(seen), done
        self.metadata = metadata or {}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        self.time = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.time += 1
        return self.observation_space.sample(), 1.0, self.time == 5, False, {}


class Countdown(gymnasium.Env):
    """Five steps whose rewards are the actions, which start at -1."""

    observation_space = spaces.Box(-np.inf, np.inf, (1, 2), np.float32)
    action_space = spaces.Discrete(3, start=-1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 5
        return np.zeros((1, 2), np.float32), {}

    def step(self, action):
        assert action in self.action_space
        self.left -= 1
        return np.full((1, 2), self.left, np.float32), float(action), self.left == 0, False, {}


def make_task(seen: spaces.Space = LINE, done: spaces.Space = TWO, **metadata: Any) -> Task:
    return task_of(lambda: Still(seen, done, metadata))


def balance(observation: np.ndarray) -> np.ndarray:
    """Holds CartPole's pole up for good."""
    return (observation @ np.array([0.05, 0.1, 1.0, 0.3]) > 0).astype(np.int64)


def glide(observation: np.ndarray) -> np.ndarray:
    """LunarLander by four thresholds: brake a fall, then turn upright; crude, but it varies."""
    _, height, _, falling, angle, turning = observation[:, :6].T
    tilt = angle + 0.5 * turning
    brake = (falling < -0.1 - 0.4 * height) & (height > 0)
    return np.select([brake, tilt > 0.1, tilt < -0.1], [2, 3, 1], 0)


def push_right(observation: np.ndarray) -> np.ndarray:
    return np.ones(len(observation), np.int64)


Act = Callable[[np.ndarray], np.ndarray]
