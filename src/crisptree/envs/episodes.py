"""Episodes side by side, each started by a seed of its own: what `rollout` plays in. No JAX here.

A slot is a place where one episode runs after another.
"""

import warnings
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from crisptree.envs.envpool_envs import EnvpoolEnvs
from crisptree.envs.guard import guarded
from crisptree.envs.gymnasium_envs import alive_agents, checked_rewards
from crisptree.envs.stepping import Stepping
from crisptree.envs.task import Task


class EpisodeStep(NamedTuple):
    """One step of k episodes; of a team, A agents each."""

    observation: np.ndarray  # (k·A, F) float32
    reward: np.ndarray  # (k,) float64: the team's
    terminated: np.ndarray  # (k,) bool
    truncated: np.ndarray  # (k,) bool
    alive: np.ndarray  # (k, A) bool: who acts next


@runtime_checkable
class EpisodeBatch(Protocol):
    """Slots in which seeded episodes run."""

    n_slots: int
    starts_together: bool
    """Whether all slots start at the same time, so that none is used again before all are free."""

    def start(self, slots: np.ndarray, seeds: list[int]) -> np.ndarray:
        """First observations of new episodes in these slots, `(k·A, F)`."""
        ...

    def step(self, slots: np.ndarray, action: np.ndarray) -> EpisodeStep:
        """One step of the episodes in these slots."""
        ...

    def close(self) -> None: ...


class GymnasiumEpisodes(EpisodeBatch):
    """Real environments in one loop, or in threads where their steps wait."""

    starts_together = False

    def __init__(self, task: Task, n_slots: int, **options: object) -> None:
        self.n_slots, self._task = n_slots, task
        self.envs = [task.make(**options) for _ in range(n_slots)]
        self._stepping = Stepping(n_slots)

    def start(self, slots: np.ndarray, seeds: list[int]) -> np.ndarray:
        with guarded(self._task.name, "reset"):
            first = self._stepping.resets([self.envs[slot] for slot in slots.tolist()], seeds)
        return self._task.observe_batch(first)

    def step(self, slots: np.ndarray, action: np.ndarray) -> EpisodeStep:
        task, k = self._task, len(slots)
        seen: list[Any] = [None] * k
        rewards: list[Any] = [None] * k
        terminated, truncated = np.empty(k, bool), np.empty(k, bool)
        alive = np.ones((k, task.n_rows), bool)
        actions = task.environment_actions(action)
        with guarded(task.name, "step"):
            envs = [self.envs[slot] for slot in slots.tolist()]
            for i, step in enumerate(self._stepping.steps(envs, actions)):
                seen[i], rewards[i], terminated[i], truncated[i], info = step
                if task.n_agents is not None:
                    alive[i] = alive_agents(info, task.n_rows)
        return EpisodeStep(
            task.observe_batch(seen), checked_rewards(rewards, task), terminated, truncated, alive
        )

    def picture(self, slot: int) -> np.ndarray:
        """What the environment in a slot draws, `(height, width, 3)` uint8."""
        with warnings.catch_warnings(), guarded(self._task.name, "render"):
            warnings.simplefilter("ignore")  # what a machine without a screen lacks is told once
            return np.asarray(self.envs[slot].render(), np.uint8)

    def close(self) -> None:
        self._stepping.close()
        for env in self.envs:
            with guarded(self._task.name, "close"):
                env.close()


class EnvpoolEpisodes(EpisodeBatch):
    """Environments of envpool. Only running episodes are stepped, so that a few long ones cost no
    more than their own steps."""

    starts_together = True

    def __init__(self, task: Task, n_slots: int) -> None:
        self.n_slots, self._task = n_slots, task
        self._pool: EnvpoolEnvs | None = None

    def start(self, slots: np.ndarray, seeds: list[int]) -> np.ndarray:
        self.close()
        self._pool = EnvpoolEnvs(self._task, len(slots))
        return self._pool.reset(seeds)

    def step(self, slots: np.ndarray, action: np.ndarray) -> EpisodeStep:
        assert self._pool is not None
        observation, reward, terminated, truncated = self._pool.step_some(action, slots)
        alive = np.ones((len(slots), 1), bool)
        return EpisodeStep(observation, reward.astype(np.float64), terminated, truncated, alive)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None
