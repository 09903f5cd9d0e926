"""The fastest vector environment for a task that is stepped outside JAX."""

import os
import time

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.base.processes import cores
from crisptree.envs.action_spaces import sample_actions
from crisptree.envs.envpool_envs import EnvpoolEnvs, envpool_has
from crisptree.envs.gymnasium_envs import GymnasiumEnvs
from crisptree.envs.process_envs import ProcessEnvs
from crisptree.envs.task import Task
from crisptree.envs.vector import VectorEnv

TIMED_STEPS = 25
SHARING_COSTS = 5e-4
"""Seconds that sharing must save in a step: several times what the sharing itself takes."""


def vector_env(task: Task, n_envs: int, n_threads: int = 1) -> VectorEnv:
    """`n_envs` environments of the task, in the fastest way that is installed: envpool, or
    gymnasium. (What has a twin in JAX learns in that, without any of these.)

    With several threads allowed, they (or as many processes) are used if steps are slow enough
    for it to pay. What the environments do is the same in any case.
    """
    n_threads = min(n_threads, n_envs)
    if envpool_has(task):
        shared = n_threads > 1 and sharing_pays(EnvpoolEnvs(task, 1), task, n_envs, n_threads)
        return EnvpoolEnvs(task, n_envs, n_threads if shared else 1)
    if n_threads > 1 and sharing_pays(GymnasiumEnvs(task, 1), task, n_envs, n_threads):
        try:
            return ProcessEnvs(task, n_envs, n_threads)
        except CrisptreeError:  # it cannot be made in another process
            return GymnasiumEnvs(task, n_envs)
    return GymnasiumEnvs(task, n_envs)


def threads() -> int:
    """Threads that stepping may use: what OMP_NUM_THREADS says, or the cores there are."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    return cores()


def sharing_pays(
    one: VectorEnv, task: Task, n_envs: int, n_threads: int, costs: float = SHARING_COSTS
) -> bool:
    """Whether several threads save more time in a step of all environments than they cost; a few
    steps of `one` are timed."""
    rng = np.random.default_rng(0)
    rows = len(one.reset(0))
    seconds = []
    for _ in range(TIMED_STEPS):
        action = sample_actions(task.actions, rows, rng)
        began = time.perf_counter()
        one.step(action)
        seconds.append(time.perf_counter() - began)
    one.close()
    return n_envs * float(np.median(seconds)) * (1 - 1 / n_threads) > costs
