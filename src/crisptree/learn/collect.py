"""Collecting trajectories: in functional JAX environments as part of a compiled program, in others
step by step, acting in NumPy.

Outside JAX, seeds are the first axis of every array: S seeds of N environments are S·N
environments, and one call acts for all of them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from crisptree.envs.functional import FunctionalEnv
from crisptree.envs.seeded_episodes import choose
from crisptree.envs.vector import VectorEnv
from crisptree.learn.acting import Sampler, sampler
from crisptree.learn.config import LearnConfig
from crisptree.learn.noise import exploration_noise
from crisptree.learn.stacks import n_seeds
from crisptree.learn.trajectory import COLLECT, RESET, Trajectory


class EnvBatch(NamedTuple):
    """N environments in the middle of their episodes."""

    state: Any
    observation: Float[Array, "N *agents F"]
    alive: Bool[Array, "N *agents"]
    episode_return: Float[Array, " N"]
    discounted_return: Float[Array, "N *agents"]


def fresh_envs(env: FunctionalEnv, n_envs: int, key: Key[Array, ""]) -> EnvBatch:
    """N environments at the start of an episode; `key` is that of a learner's state."""
    keys = jax.random.split(jax.random.fold_in(key, RESET), n_envs)
    state, observation = jax.vmap(env.reset)(keys)
    rows = observation.shape[:-1]
    return EnvBatch(state, observation, jnp.ones(rows, bool), jnp.zeros(rows[0]), jnp.zeros(rows))


def collect(
    learner: Any, envs: EnvBatch, env: FunctionalEnv, config: LearnConfig
) -> tuple[EnvBatch, Trajectory]:
    """`n_steps` steps of every environment under the learner's policy."""
    shape, head = envs.alive.shape, learner.head
    for_actions, for_steps, for_resets = jax.random.split(
        jax.random.fold_in(learner.key, COLLECT), 3
    )
    randomness = (
        exploration_noise(head, for_actions, config.n_steps, envs.alive.size, config.noise_color),
        jax.random.split(for_steps, (config.n_steps, shape[0])),
        jax.random.split(for_resets, (config.n_steps, shape[0])),
    )

    def step(envs: EnvBatch, random: tuple):
        noise, step_keys, reset_keys = random
        rows = envs.observation.reshape(-1, envs.observation.shape[-1])
        distribution = learner.distribution(rows)
        action = head.sample(distribution, noise)
        sent = head.to_env(action).reshape(*shape, *action.shape[1:])
        at = jax.vmap(env.step)(step_keys, envs.state, sent)

        agents = tuple(range(1, len(shape)))
        over = at.truncated | at.terminated.all(agents)
        over_rows = over.reshape(-1, *(1,) * len(agents))
        done = at.terminated | over_rows
        # A team's return is the mean over those alive, step by step.
        earned = jnp.where(envs.alive, at.reward, 0.0).sum(agents) / jnp.maximum(
            envs.alive.sum(agents), 1
        )
        episode_return = envs.episode_return + earned
        discounted_return = config.discount * envs.discounted_return + at.reward
        fresh_state, fresh_observation = jax.vmap(env.reset)(reset_keys)
        following = EnvBatch(
            state=choose(over, fresh_state, at.state),
            observation=choose(over, fresh_observation, at.observation),
            alive=over_rows | (envs.alive & ~at.terminated),
            episode_return=jnp.where(over, 0.0, episode_return),
            discounted_return=jnp.where(done, 0.0, discounted_return),
        )
        seen = Trajectory(
            observation=rows,
            action=action,
            log_probability=head.log_probability(distribution, action),
            reward=at.reward.reshape(-1),
            discounted_return=discounted_return.reshape(-1),
            next_observation=at.observation.reshape(rows.shape),
            terminated=at.terminated.reshape(-1),
            done=done.reshape(-1),
            mask=envs.alive.reshape(-1),
            return_sum=jnp.where(over, episode_return, 0.0).sum(),
            n_episodes=over.sum().astype(jnp.float32),
        )
        return following, seen

    envs, seen = jax.lax.scan(step, envs, randomness)
    return envs, seen._replace(return_sum=seen.return_sum.sum(), n_episodes=seen.n_episodes.sum())


class HostCollector:
    """S·N environments, in one vector environment or in several.

    With several, the learners act in one while another steps.
    """

    def __init__(
        self, envs: Sequence[VectorEnv], n_seeds: int, n_agents: int, gamma: Any, seed: int
    ) -> None:
        """All environments start afresh, the first of them with `seed`."""
        self._parts: list[_Part] = []
        for each in envs:
            self._parts.append(_Part(each, n_seeds, n_agents, gamma, seed))
            seed += self._parts[-1].n_rows // n_agents

    # Numbers beyond float32 end the training with an error of their own: see `trainer`.
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
        self.seen.append(
            (
                self.observation,
                self.action,
                self.log_probability,
                at.reward,
                at.next_observation,
                at.terminated,
                at.truncated,
                at.valid,
            )
        )
        self.observation = at.observation

    def take(self) -> list[np.ndarray]:
        """All that was seen since the last time, as the fields of a trajectory: seeds first, then
        time, then rows."""
        # What follows from rewards is worked out for all steps at once: a step waits for nothing.
        every = [np.stack(part) for part in zip(*self.seen, strict=True)]
        observation, action, log_probability, reward, following, terminated, truncated, valid = (
            every
        )
        self.seen = []
        done = terminated | truncated | ~valid
        discounted_return = self._discounted_returns(reward, done)
        return_sum, over = self._episode_returns(reward, done, valid)
        fields = (
            *(observation, action, log_probability, reward, discounted_return),
            *(following, terminated, done, valid, return_sum, over),
        )
        return [np.swapaxes(self._by_seed(part, 1), 0, 1) for part in fields]

    def _discounted_returns(self, reward: np.ndarray, done: np.ndarray) -> np.ndarray:
        found, running = np.empty_like(reward), self.discounted_return
        for time, over in enumerate(done):
            np.add(self.gamma * running, reward[time], out=found[time])
            running = np.where(over, np.float32(0), found[time])
        self.discounted_return = running
        return found

    def _episode_returns(
        self, reward: np.ndarray, done: np.ndarray, valid: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The return of each episode where it ends, else 0, and whether it ends there."""
        acted = valid.reshape(len(valid), -1, self.n_agents)
        n_acted = acted.sum(2)
        # A team's return is the mean over those alive, step by step; its episode is over when the
        # last one's is.
        earned = np.where(valid, reward, 0).reshape(acted.shape).sum(2) / np.maximum(n_acted, 1)
        goes_on = np.logical_not(np.all(done.reshape(acted.shape), axis=2))
        over = (n_acted > 0) & ~goes_on
        found, running = np.zeros(over.shape, np.float32), self.episode_return
        for time in range(len(over)):
            running += earned[time]
            if not goes_on[time].all():
                np.copyto(found[time], running, where=over[time])
                running[~goes_on[time]] = 0
        return found, over.astype(np.float32)

    def _by_seed(self, rows: np.ndarray, axis: int = 0) -> np.ndarray:
        """The array with its axis of rows in two: seeds, and the rows of each."""
        before, (n, *after) = rows.shape[:axis], rows.shape[axis:]
        return rows.reshape(*before, self.n_seeds, n // self.n_seeds, *after)
