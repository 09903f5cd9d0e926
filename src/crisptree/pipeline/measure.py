"""What is measured of an environment before anything is learned: how fast it is, how long episodes
are. The numbers that a configuration leaves open follow from it."""

import time
from dataclasses import dataclass

from crisptree.envs.policy import random_policy
from crisptree.envs.registry import twin_of
from crisptree.envs.task import Task
from crisptree.envs.vector_env import vector_env

FEW, MANY, COMPILED = 8, 64, 1024
"""Environments that are stepped together: few at first, more where steps are fast, and many of
those that are compiled."""
FAST = 2_000
"""Steps a second from which on many are stepped together."""
LONGEST = 0.7
"""Seconds after which enough was seen."""
MOST_STEPS = 2_000


@dataclass(frozen=True)
class Measurement:
    steps_per_second: float
    """Of one process that steps a few environments with random actions."""
    episode_length: float
    """Steps of an episode, under random actions."""


def measure(task: Task, seed: int) -> Measurement:
    """Step the environment for about a second."""
    if twin_of(task) is not None:
        return _measure(task, seed, COMPILED)
    few = _measure(task, seed, FEW)
    return few if few.steps_per_second < FAST else _measure(task, seed, MANY)


def _measure(task: Task, seed: int, n_envs: int) -> Measurement:
    policy, envs = random_policy(task, seed), vector_env(task, n_envs)
    try:
        at = envs.reset(seed)
        at = envs.step(policy.act(at)).observation  # what is compiled, is compiled now
        steps = ended = 0
        began = time.perf_counter()
        while steps < MOST_STEPS * n_envs and time.perf_counter() - began < LONGEST:
            step = envs.step(policy.act(at))
            at = step.observation
            steps += int(step.valid.sum())
            ended += int((step.terminated | step.truncated).sum())
        seconds = time.perf_counter() - began
    finally:
        envs.close()
    longest = float(task.max_steps or MOST_STEPS)
    length = min(longest, max(1.0, steps / ended)) if ended else longest
    return Measurement(steps / task.n_rows / max(seconds, 1e-9), length)
