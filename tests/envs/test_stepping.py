"""Steps that wait go on side by side; what environments do is the same."""

import threading
import time

import gymnasium as gym
import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.envs.gymnasium_envs import GymnasiumEnvs
from crisptree.envs.policy import random_policy
from crisptree.envs.rollout import rollout
from crisptree.envs.task import Task, task_of

SECONDS = 0.01


class Waiting(gym.Wrapper):
    """CartPole behind a slow line; `computes`: it keeps the processor busy instead."""

    def __init__(self, seconds: float = SECONDS, computes: bool = False, fails: bool = False):
        super().__init__(gym.make("CartPole-v1"))
        self.seconds, self.computes, self.fails = seconds, computes, fails
        self.threads: set[int] = set()

    def step(self, action):
        self.threads.add(threading.get_ident())
        end = time.thread_time() + self.seconds
        while self.computes and time.thread_time() < end:
            pass
        if not self.computes:
            time.sleep(self.seconds)
        if self.fails and threading.current_thread() is not threading.main_thread():
            raise RuntimeError("the line is dead")
        return self.env.step(action)


def task(**kwargs) -> Task:
    return task_of(lambda: Waiting(**kwargs))


def test_steps_that_wait_take_as_long_as_one():
    played = task(), random_policy(task(), 0)
    began = time.monotonic()
    found = rollout([played[1]], played[0], range(32))
    longest = int(found.lengths.max())
    assert time.monotonic() - began < 0.5 * SECONDS * int(found.lengths.sum())
    assert longest < int(found.lengths.sum())


def test_seeds_give_the_same_episodes():
    policy = lambda: random_policy(task_of("CartPole-v1"), 3)
    waiting = rollout([policy()], task(), range(8), record=True)
    plain = rollout([policy()], task_of("CartPole-v1"), range(8), record=True)
    assert waiting.observations is not None and plain.observations is not None
    assert np.array_equal(waiting.observations, plain.observations)


@pytest.mark.parametrize("computes", [False, True])
def test_vector_environments_too_and_steps_that_compute_stay_in_one_loop(computes):
    envs = GymnasiumEnvs(task(computes=computes, seconds=0.003), 4)
    envs.reset(0)
    for _ in range(3):
        envs.step(np.zeros(4, np.int64))
    assert envs.waits is not computes
    envs.close()


def test_what_goes_wrong_in_a_thread_is_told():
    with pytest.raises(CrisptreeError, match="failed in step: RuntimeError: the line is dead"):
        rollout([random_policy(task(), 0)], task(fails=True), range(4))
