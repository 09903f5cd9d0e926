"""What is measured of an environment before anything is learned: how fast it is, how long episodes
are. The numbers that a configuration leaves open follow from it."""

import math
import time
from dataclasses import dataclass

from crisptree.crispen.pace import Pace
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
    """Of one process that steps environments side by side with random actions."""
    episode_length: float
    """Steps of an episode, under random actions."""
    waits: bool = False
    """Whether steps wait rather than compute, so that many at once take as long as one."""

    def learned_length(self, most: int | None) -> float:
        """Steps of an episode of somebody who has learned something: he may play longer than at
        random, up to the limit `most`; the limit itself where nothing was measured."""
        if math.isnan(self.episode_length):
            return float(most or MOST_STEPS)
        return math.sqrt(self.episode_length * (most or self.episode_length))

    def pace(self, most: int | None) -> Pace:
        """How long episodes take, before any was played in earnest."""
        return Pace(self.steps_per_second, self.learned_length(most), self.waits)


def measure(task: Task, seed: int) -> Measurement:
    """Step the environment for about a second."""
    if twin_of(task) is not None:
        return _measure(task, seed, COMPILED)
    few = _measure(task, seed, FEW)
    is_better_with_many = few.waits or few.steps_per_second >= FAST
    return _measure(task, seed, MANY) if is_better_with_many else few


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
        waits = getattr(envs, "waits", False)
    finally:
        envs.close()
    longest = float(task.max_steps or MOST_STEPS)
    length = min(longest, max(1.0, steps / ended)) if ended else longest
    return Measurement(steps / task.n_rows / max(seconds, 1e-9), length, waits)
