"""The scores that decide which tree goes on."""

import math
import time

import gymnasium as gym
import numpy as np
from small import small_config

from crisptree.crisp import CrispTree
from crisptree.crispen.pace import Pace, Timetable
from crisptree.crispen.select import Selection
from crisptree.envs.task import Task, task_of
from crisptree.pipeline.leg import scores_together, whole_mean
from crisptree.pipeline.timing import Measurement, TimeLeft

CONFIG = small_config()


class Costly(gym.Env):
    """Each step waits and costs 1, or 2 if the action is 1: the longer it is played, the less it
    returns."""

    observation_space = gym.spaces.Box(-1, 1, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action):
        time.sleep(0.005)
        return np.zeros(1, np.float32), -1.0 - float(action), False, False, {}


def constant(task: Task, action: int) -> CrispTree:
    return CrispTree.from_nested(action, task.feature_names, task.action_names)


def test_a_score_is_of_whole_episodes_or_none():
    def score(length: int, seconds: float, steps_per_second: float) -> float | None:
        task = task_of(lambda: gym.wrappers.TimeLimit(Costly(), length))
        until, pace = Timetable(time.monotonic() + seconds), Pace(steps_per_second, float(length))
        return whole_mean(Selection(task, 0, times=until, pace=pace), constant(task, 0), 2)

    assert score(50, math.inf, 200.0) == -50
    assert score(5000, 1.0, 200.0) is None
    assert score(5000, 1.0, math.inf) is None  # that it is so slow was not known before


def test_where_episodes_are_cut_trees_are_compared_at_the_same_length():
    task = task_of(lambda: gym.wrappers.TimeLimit(Costly(), 5000))
    trees = [constant(task, 1), constant(task, 0)]
    now = time.time()
    times = TimeLeft(0.0, now, 2.0, Measurement(200.0, 5000.0, waits=True))
    worse, better = scores_together(trees, CONFIG, task, seed=0, leg=0, times=times)
    assert worse == 2 * better < 0
