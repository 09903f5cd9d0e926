"""Collecting trajectories in environments outside JAX: acting in NumPy, step by step.

Seeds are the first axis of every array: S seeds of N environments are S·N environments, and one
call acts for all of them.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from crisptree.envs.vector import VectorEnv
from crisptree.learn.acting import Sampler, sampler
from crisptree.learn.config import LearnConfig
from crisptree.learn.noise import exploration_noise
from crisptree.learn.stacks import n_seeds
from crisptree.learn.trajectory import COLLECT, Trajectory


class HostCollector:
    """S·N environments, in one vector environment or in several.

    With several, one is acted for while another steps.
    """

    def __init__(
        self, envs: Sequence[VectorEnv], n_seeds: int, n_agents: int, gamma: Any, seed: int
    ) -> None:
        """All environments start afresh, the first of them with `seed`."""
        self._parts: list[_Part] = []
        for each in envs:
            self._parts.append(_Part(each, n_seeds, n_agents, gamma, seed))
            seed += self._parts[-1].n_rows // n_agents

    # Numbers that float32 does not hold end the training with a line of its own: see `trainer`.
    @np.errstate(over="ignore", invalid="ignore")
    def collect(self, learners: Any, config: LearnConfig) -> Trajectory:
        """`n_steps` steps of every environment, as NumPy's arrays `(S, T, R, …)`."""
        sample, to_env = sampler(learners), learners.head.to_env
        rows = [part.n_rows // n_seeds(learners) for part in self._parts]
        color = jnp.broadcast_to(jnp.float32(config.noise_color), (n_seeds(learners),))
        noise = np.asarray(_noise(learners, config.n_steps, sum(rows), color))
        cuts = np.cumsum(rows)[:-1]
        for time in range(config.n_steps):
            for part, its_noise in zip(self._parts, np.split(noise[:, time], cuts, 1), strict=True):
                if time > 0:
                    part.receive()
                part.send(sample, to_env, its_noise)
        for part in self._parts:
            part.receive()
        collected = [part.take() for part in self._parts]
        arrays = [np.concatenate(each, 2) for each in zip(*collected, strict=True)]
        arrays[-2:] = [each.sum((1, 2)) for each in arrays[-2:]]
        return Trajectory(*arrays)  # pyright: ignore[reportArgumentType]


@eqx.filter_jit
def _noise(
    learners: Any, n_steps: int, n_rows: int, color: Float[Array, " S"]
) -> Float[Array, "S T R K"]:
    def of_one(key: Array, color: Array) -> Array:
        for_actions = jax.random.fold_in(key, COLLECT)
        return exploration_noise(learners.head, for_actions, n_steps, n_rows, color)

    return jax.vmap(of_one)(learners.key, color)


class _Part:
    """A vector environment in the middle of its episodes, and what was seen in it."""

    def __init__(self, envs: VectorEnv, n_seeds: int, n_agents: int, gamma: Any, seed: int) -> None:
        self.envs, self.n_seeds, self.n_agents = envs, n_seeds, n_agents
        self.observation = envs.reset(seed)
        self.n_rows = len(self.observation)
        gammas = np.broadcast_to(np.asarray(gamma, np.float32), (n_seeds,))
        self.gamma = np.repeat(gammas, self.n_rows // n_seeds)
        self.discounted_return = np.zeros(self.n_rows, np.float32)
        self.episode_return = np.zeros(self.n_rows // n_agents, np.float32)
        self.seen: list[tuple[np.ndarray, ...]] = []

    def send(self, sample: Sampler, to_env: Any, noise: np.ndarray) -> None:
        """Act, and let the environments step."""
        action, log_probability = sample(self._by_seed(self.observation), noise)
        self.action = action.reshape(self.n_rows, *action.shape[2:])
        self.log_probability = log_probability.reshape(-1)
        self.envs.send(to_env(self.action))

    def receive(self) -> None:
        """Wait for the step, and keep what it led to."""
        at = self.envs.receive()
        discounted_return = self.gamma * self.discounted_return + at.reward
        done = at.terminated | at.truncated | ~at.valid
        acted = at.valid.reshape(-1, self.n_agents)
        n_acted = acted.sum(1)
        # A team's return is the mean over those alive, step by step; its episode is over when the
        # last one's is.
        earned = np.where(at.valid, at.reward, 0).reshape(acted.shape).sum(1)
        self.episode_return += earned / np.maximum(n_acted, 1)
        goes_on = ~done.reshape(acted.shape).all(1)
        over = (n_acted > 0) & ~goes_on
        self.seen.append(
            (
                self.observation,
                self.action,
                self.log_probability,
                at.reward,
                discounted_return,
                at.next_observation,
                at.terminated,
                done,
                at.valid,
                np.where(over, self.episode_return, np.float32(0)),
                over.astype(np.float32),
            )
        )
        self.episode_return = np.where(goes_on, self.episode_return, np.float32(0))
        self.discounted_return = np.where(done, np.float32(0), discounted_return)
        self.observation = at.observation

    def take(self) -> list[np.ndarray]:
        """All that was seen since the last time: seeds first, then time, then rows."""
        parts = zip(*self.seen, strict=True)
        self.seen = []
        return [np.stack([self._by_seed(rows) for rows in part], 1) for part in parts]

    def _by_seed(self, rows: np.ndarray) -> np.ndarray:
        return rows.reshape(self.n_seeds, len(rows) // self.n_seeds, *rows.shape[1:])
