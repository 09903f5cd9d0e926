"""What is measured of an environment before anything is learned: how fast it is, how long episodes
are. The numbers that a configuration leaves open follow from it."""

import time
from dataclasses import dataclass

from crisptree.envs.policy import random_policy
from crisptree.envs.registry import twin_of
from crisptree.envs.task import Task
from crisptree.envs.vector_env import vector_env

ENVS, COMPILED_ENVS = 8, 1024
"""Environments that are stepped together; what is compiled steps many in the time of few."""
LONGEST = 1.0
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
    n_envs = ENVS if twin_of(task) is None else COMPILED_ENVS
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
    rows = task.n_rows
    longest = task.max_steps or MOST_STEPS
    length = min(float(longest), max(1.0, steps / max(1, ended)))
    if ended == 0:
        length = float(longest)
    return Measurement(steps / rows / max(seconds, 1e-9), length)
