"""Gymnasium environments stepped one after the other in this process: right for cheap steps."""

from typing import Any

import numpy as np
from gymnasium.wrappers import TimeLimit

from crisptree.envs.guard import guarded, misbehaved, numbers
from crisptree.envs.stepping import Stepping
from crisptree.envs.task import Task
from crisptree.envs.vector import VectorEnv, VectorStep

MOST_STEPS = 10_000
"""Where an environment has no time limit of its own, its episodes are truncated here."""

LARGEST_REWARD = float(np.finfo(np.float32).max)


def step_limit(task: Task) -> int:
    """The steps after which an episode is over in any case."""
    return task.max_steps or MOST_STEPS


class GymnasiumEnvs(VectorEnv):
    """N environments in one loop, or in threads where their steps wait. Agents of a team are rows
    of their own."""

    def __init__(self, task: Task, n_envs: int) -> None:
        self._task = task
        self._envs = [task.make() for _ in range(n_envs)]
        if task.max_steps is None:
            self._envs = [TimeLimit(env, MOST_STEPS) for env in self._envs]
        self._alive = np.ones(n_envs * task.n_rows, bool)
        self._stepping = Stepping(n_envs)

    @property
    def waits(self) -> bool:
        """Whether steps were seen to wait, rather than to compute."""
        return self._stepping.waits

    def reset(self, seed: int) -> np.ndarray:
        with guarded(self._task.name, "reset"):
            seeds = [seed + i for i in range(len(self._envs))]
            first = self._stepping.resets(self._envs, seeds)
        self._alive[:] = True
        return self._task.observe_batch(first)

    def send(self, action: np.ndarray) -> None:
        self._actions = self._task.environment_actions(action)

    def receive(self) -> VectorStep:
        task, n = self._task, len(self._envs)
        led_to: list[Any] = [None] * n
        rewards: list[Any] = [None] * n
        infos: list[Any] = [None] * n
        ended, cut = np.empty(n, bool), np.empty(n, bool)
        with guarded(task.name, "step"):
            for i, step in enumerate(self._stepping.steps(self._envs, self._actions)):
                led_to[i], rewards[i], ended[i], cut[i], infos[i] = step
        next_observation = task.observe_batch(led_to)
        observation = next_observation
        over = np.flatnonzero(ended | cut)
        if len(over):
            with guarded(task.name, "reset"):
                fresh = self._stepping.resets([self._envs[i] for i in over], [None] * len(over))
            observation = next_observation.copy()
            rows = (over[:, None] * task.n_rows + np.arange(task.n_rows)).ravel()
            observation[rows] = task.observe_batch(fresh)
        return self._by_row(
            observation, next_observation, checked_rewards(rewards, task), ended, cut, infos
        )

    def _by_row(
        self,
        observation: np.ndarray,
        next_observation: np.ndarray,
        reward: np.ndarray,
        ended: np.ndarray,
        cut: np.ndarray,
        infos: list[dict[str, Any]],
    ) -> VectorStep:
        agents = self._task.n_rows
        reward = np.repeat(reward, agents).astype(np.float32)
        valid, over = self._alive, np.repeat(ended | cut, agents)
        if agents == 1:
            still = np.ones(len(infos), bool)
        else:
            still = np.concatenate([alive_agents(info, agents) for info in infos])
        terminated = valid & (np.repeat(ended, agents) | ~still)
        self._alive = over | (valid & still)
        return VectorStep(
            observation,
            next_observation,
            np.where(valid, reward, np.float32(0)),
            terminated,
            valid & over & ~terminated,
            valid,
        )

    def close(self) -> None:
        self._stepping.close()
        for env in self._envs:
            with guarded(self._task.name, "close"):
                env.close()


def alive_agents(info: Any, n_agents: int) -> np.ndarray:
    """Which agents of a team still act: what the environment says in its info, else all."""
    if n_agents > 1 and isinstance(info, dict) and "alive" in info:
        return np.asarray(info["alive"], bool).reshape(n_agents)
    return np.ones(n_agents, bool)


def checked_rewards(rewards: list[Any], task: Task) -> np.ndarray:
    """Rewards as float64 `(n,)`. One that is not finite in float32, the learners' type, is an error
    of the environment."""
    array = numbers(rewards, np.float64)
    if array is None or array.size != len(rewards):
        odd = next((each for each in rewards if not _is_one_number(each)), rewards[0])
        raise misbehaved(task.name, f"returned a reward that is no number ({type(odd).__name__})")
    array = array.reshape(len(rewards))
    wrong = ~(np.abs(array) < LARGEST_REWARD)
    if wrong.any():
        odd = rewards[int(np.flatnonzero(wrong)[0])]
        raise misbehaved(
            task.name, f"returned the reward {odd}; it must be a finite number of float32"
        )
    return array


def _is_one_number(reward: Any) -> bool:
    found = numbers(reward, np.float64)
    return found is not None and found.size == 1
