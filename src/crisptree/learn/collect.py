"""Collecting trajectories in functional JAX environments, as part of a compiled program."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from crisptree.envs.functional import FunctionalEnv
from crisptree.learn.config import LearnConfig
from crisptree.learn.noise import exploration_noise
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
        discounted_return = config.gamma * envs.discounted_return + at.reward
        fresh_state, fresh_observation = jax.vmap(env.reset)(reset_keys)
        following = EnvBatch(
            state=_where(over, fresh_state, at.state),
            observation=_where(over, fresh_observation, at.observation),
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


def _where(condition: Bool[Array, " N"], if_true: Any, if_false: Any) -> Any:
    """For each environment one of two states."""

    def pick(a: Array, b: Array) -> Array:
        return jnp.where(condition.reshape(-1, *(1,) * (a.ndim - 1)), a, b)

    return jax.tree.map(pick, if_true, if_false)
