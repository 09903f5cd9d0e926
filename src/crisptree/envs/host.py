"""Environments that live outside JAX, stepped side by side: any Gymnasium id, or envpool's.

Both adapters give the same `HostStep`, whatever their own habits of resetting are. Nothing here
imports JAX, unless the id has a twin in JAX.
"""

import contextlib
import importlib.util
import os
import time
import warnings
from typing import NamedTuple, Protocol, runtime_checkable

import gymnasium as gym
import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.base.processes import cores
from crisptree.envs.registry import functional_env, is_functional, plays_in_rows
from crisptree.envs.spaces import flat_size, make

TIMED_STEPS = 25
SHARING_COSTS = 5e-4
"""Seconds that a step must save to be shared out: several times what the sharing itself takes."""


class HostStep(NamedTuple):
    """One step of N environments.

    `next_observation` is what the actions led to; `observation` is where the next step starts
    (after a reset it is another episode's first). `valid` is false for a step that only reset.
    """

    observation: np.ndarray  # (N, F) float32
    next_observation: np.ndarray  # (N, F) float32
    reward: np.ndarray  # (N,) float32
    terminated: np.ndarray  # (N,) bool
    truncated: np.ndarray  # (N,) bool
    valid: np.ndarray  # (N,) bool


@runtime_checkable
class HostEnvs(Protocol):
    def reset(self, seed: int) -> np.ndarray:
        """First observations (N, F); environment i has `seed + i`, from which all follows."""
        ...

    def send(self, action: np.ndarray) -> None:
        """Begins a step."""
        ...

    def receive(self) -> HostStep:
        """What the step led to that was begun."""
        ...

    def step(self, action: np.ndarray) -> HostStep:
        self.send(action)
        return self.receive()

    def close(self) -> None: ...


class GymnasiumEnvs(HostEnvs):
    """N gymnasium environments in one loop: for cheap steps faster than worker processes."""

    def __init__(self, env_id: str, n_envs: int) -> None:
        self._envs = [make(env_id) for _ in range(n_envs)]
        space = self._envs[0].action_space
        assert isinstance(space, gym.spaces.Discrete)
        self._first_action = int(space.start)
        self._n_features = flat_size(self._envs[0])

    def reset(self, seed: int) -> np.ndarray:
        first = [env.reset(seed=seed + i)[0] for i, env in enumerate(self._envs)]
        return np.asarray(first, np.float32).reshape(len(first), -1)

    def send(self, action: np.ndarray) -> None:
        self._choices = (action + self._first_action).tolist()

    def receive(self) -> HostStep:
        n = len(self._envs)
        following = np.empty((n, self._n_features), np.float32)
        led_to = np.empty((n, self._n_features), np.float32)
        reward = np.empty(n, np.float32)
        terminated, truncated = np.empty(n, bool), np.empty(n, bool)
        for i, (env, choice) in enumerate(zip(self._envs, self._choices, strict=True)):
            observation, reward[i], terminated[i], truncated[i], _ = env.step(choice)
            led_to[i] = np.ravel(observation)
            if terminated[i] or truncated[i]:
                observation = env.reset()[0]
                following[i] = np.ravel(observation)
            else:
                following[i] = led_to[i]
        return HostStep(following, led_to, reward, terminated, truncated, np.ones(n, bool))

    def close(self) -> None:
        for env in self._envs:
            env.close()


class EnvpoolEnvs(HostEnvs):
    """The same through envpool, which is written in C++.

    Its habits, met here: the seed counts only at construction; after an episode's end the next
    call ignores its action and only resets.
    """

    def __init__(self, env_id: str, n_envs: int, n_threads: int = 1) -> None:
        self._env_id, self._n_envs, self._n_threads = env_id, n_envs, n_threads
        self._pool = None
        self._over = np.zeros(n_envs, bool)

    def reset(self, seed: int | list[int]) -> np.ndarray:
        """As everywhere, or with a seed given for each environment."""
        import envpool

        self.close()
        with warnings.catch_warnings():
            # of bounds that gymnasium rounds to float32; nobody here reads them
            warnings.simplefilter("ignore", UserWarning)
            self._pool = envpool.make_gymnasium(
                self._env_id,
                num_envs=self._n_envs,
                num_threads=self._n_threads,
                seed=seed,
            )
            first, _ = self._pool.reset()
        self._over = np.zeros(self._n_envs, bool)
        return self._flat(first)

    def _flat(self, observation: np.ndarray) -> np.ndarray:
        return np.asarray(observation, np.float32).reshape(self._n_envs, -1)

    def send(self, action: np.ndarray) -> None:
        assert self._pool is not None
        self._pool.send(action.astype(np.int32))

    def receive(self) -> HostStep:
        assert self._pool is not None
        observation, reward, terminated, truncated, _ = self._pool.recv()
        observation, only_reset = self._flat(observation), self._over
        terminated, truncated = terminated & ~only_reset, truncated & ~only_reset & ~terminated
        self._over = terminated | truncated
        return HostStep(
            observation,
            observation,
            np.where(only_reset, 0, reward).astype(np.float32),
            terminated,
            truncated,
            ~only_reset,
        )

    def step_some(
        self, action: np.ndarray, which: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`(observation, reward, over)` of the environments `which`; the others stand still."""
        assert self._pool is not None
        observation, reward, terminated, truncated, _ = self._pool.step(
            action.astype(np.int32), which.astype(np.int32)
        )
        flat = np.asarray(observation, np.float32).reshape(len(which), -1)
        return flat, reward, terminated | truncated

    def parts(self) -> "list[EnvpoolEnvs]":
        """The same environments in two pools of half the threads, where there are several: while
        one of them steps, the other can be acted for."""
        n, threads = self._n_envs // 2, self._n_threads // 2
        if not threads or not n:
            return [self]
        return [
            EnvpoolEnvs(self._env_id, self._n_envs - n, self._n_threads - threads),
            EnvpoolEnvs(self._env_id, n, threads),
        ]

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None


def envpool_has(env_id: str) -> bool:
    """Whether envpool is installed and has this environment of gymnasium's.

    An id that anyone else has registered is theirs, though envpool may know one of that name.
    """
    spec = gym.registry.get(env_id)
    if spec is None or not str(spec.entry_point).startswith("gymnasium."):
        return False
    if importlib.util.find_spec("envpool") is None:
        return False
    import envpool

    return env_id in envpool.list_all_envs()


def host_envs(env_id: str, n_envs: int, *, n_threads: int = 1) -> HostEnvs:
    """The fastest adapter that is installed for this id.

    With several threads allowed, they (or as many processes) are used if steps are slow enough
    for it to pay. What the environments do is the same in any case.
    """
    if plays_in_rows(env_id):
        from crisptree.envs.cartpole_rows import CartPoleRows

        return CartPoleRows(n_envs)
    if is_functional(env_id):
        from crisptree.envs.functional_host import FunctionalHostEnvs

        return FunctionalHostEnvs(functional_env(env_id), n_envs)
    n_threads = min(n_threads, n_envs)
    if envpool_has(env_id):
        shared = n_threads > 1 and _shared_pays(EnvpoolEnvs(env_id, 1), n_envs, n_threads)
        return EnvpoolEnvs(env_id, n_envs, n_threads if shared else 1)
    if n_threads > 1 and _shared_pays(GymnasiumEnvs(env_id, 1), n_envs, n_threads):
        from crisptree.envs.workers import WorkerEnvs

        # An id that was registered in this process alone is unknown in another.
        with contextlib.suppress(CrisptreeError):
            return WorkerEnvs(env_id, n_envs, n_threads)
    return GymnasiumEnvs(env_id, n_envs)


def threads() -> int:
    """Threads that stepping may use: what OMP_NUM_THREADS says, or the cores there are."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    return cores()


def _shared_pays(one: HostEnvs, n_envs: int, n_threads: int) -> bool:
    """Whether sharing out a step of all environments saves more than it costs."""
    one.reset(0)
    seconds = []
    for _ in range(TIMED_STEPS):
        began = time.perf_counter()
        one.step(np.zeros(1, np.int64))
        seconds.append(time.perf_counter() - began)
    one.close()
    return n_envs * float(np.median(seconds)) * (1 - 1 / n_threads) > SHARING_COSTS
