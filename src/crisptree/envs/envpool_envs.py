"""Environments of envpool, which steps them in C++ threads. No JAX here."""

import importlib.util
import warnings
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from crisptree.envs.encoder import SpaceEncoder
from crisptree.envs.guard import guarded
from crisptree.envs.task import Task
from crisptree.envs.vector import VectorEnv, VectorStep


class EnvpoolEnvs(VectorEnv):
    """N environments in one pool.

    The seed counts only when a pool is made. After the end of an episode, the next step ignores its
    action and only resets.
    """

    def __init__(self, task: Task, n_envs: int, n_threads: int = 1) -> None:
        self._task, self._n_envs, self._n_threads = task, n_envs, n_threads
        self._pool: Any = None
        self._over = np.zeros(n_envs, bool)

    def reset(self, seed: int | Sequence[int]) -> np.ndarray:
        """First observations (N, F); environment i has `seed + i`, or a seed of its own."""
        import envpool

        self.close()
        limit = {} if self._task.max_steps is None else {"max_episode_steps": self._task.max_steps}
        with warnings.catch_warnings(), guarded(self._task.name, "reset"):
            # gymnasium warns that it rounds bounds to float32; nobody here reads them
            warnings.simplefilter("ignore", UserWarning)
            self._pool = envpool.make_gymnasium(
                str(self._task.env_id),
                num_envs=self._n_envs,
                num_threads=self._n_threads,
                seed=seed if isinstance(seed, int) else [int(each) for each in seed],
                **limit,
            )
            first, _ = self._pool.reset()
        self._over = np.zeros(self._n_envs, bool)
        return self._task.observe_batch(first)

    def _given(self, action: np.ndarray) -> np.ndarray:
        """The actions as envpool wants them: int32 where they are choices."""
        given = np.asarray(self._task.environment_actions(action))
        return given.astype(np.int32) if self._task.given_actions.kind != "box" else given

    def send(self, action: np.ndarray) -> None:
        self._pool.send(self._given(action))

    def receive(self) -> VectorStep:
        raw, reward, terminated, truncated, _ = self._pool.recv()
        observation, only_reset = self._task.observe_batch(raw), self._over
        terminated, truncated = terminated & ~only_reset, truncated & ~only_reset & ~terminated
        self._over = terminated | truncated
        return VectorStep(
            observation,
            observation,
            np.where(only_reset, 0, reward).astype(np.float32),
            terminated,
            truncated,
            ~only_reset,
        )

    def step_some(
        self, action: np.ndarray, which: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """`(observation, reward, terminated, truncated)` of the environments `which`; the others
        stand still."""
        raw, reward, terminated, truncated, _ = self._pool.step(
            self._given(action), which.astype(np.int32)
        )
        return self._task.observe_batch(raw), reward, terminated, truncated & ~terminated

    def parts(self) -> "list[EnvpoolEnvs]":
        """The same environments in two pools, each with half of the threads: while one pool steps,
        the policy acts in the other. One pool where there are not enough threads."""
        n, threads = self._n_envs // 2, self._n_threads // 2
        if not threads or not n:
            return [self]
        return [
            EnvpoolEnvs(self._task, self._n_envs - n, self._n_threads - threads),
            EnvpoolEnvs(self._task, n, threads),
        ]

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None


def envpool_has(task: Task) -> bool:
    """Whether envpool is installed and has the same environment.

    It must be registered by gymnasium itself (others may use an id that envpool knows) and have no
    keyword arguments, since envpool's are not gymnasium's.
    """
    source = task.source
    if not source.is_registered or source.kwargs or source.features is not None:
        return False
    spec = gym.registry.get(source.env_id or "")
    if spec is None or not str(spec.entry_point).startswith("gymnasium."):
        return False
    if importlib.util.find_spec("envpool") is None:
        return False
    try:
        import envpool
    except Exception:  # a broken installation counts as none
        return False
    return source.env_id in envpool.list_all_envs() and _same_spaces(task)


def _same_spaces(task: Task) -> bool:
    """Whether envpool's observations and actions have the shapes of gymnasium's."""
    import envpool

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec: Any = envpool.make_spec(str(task.env_id))
        seen, done = spec.gymnasium_observation_space, spec.gymnasium_action_space
    if not isinstance(task.encoder, SpaceEncoder):
        return False
    parts = task.encoder.parts
    if len(parts) != 1 or parts[0].path or tuple(seen.shape or ()) != parts[0].shape:
        return False
    actions = task.given_actions
    if actions.kind == "discrete":
        return isinstance(done, gym.spaces.Discrete) and int(done.n) == task.n_actions
    if actions.kind == "box":
        return (
            isinstance(done, gym.spaces.Box)
            and tuple(done.shape) == (actions.shape or (task.n_actions,))
            and np.array_equal(done.low.ravel(), actions.low)
            and np.array_equal(done.high.ravel(), actions.high)
        )
    return False
