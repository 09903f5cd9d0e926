"""Trajectories made up from random numbers, and states compared bit for bit."""

import jax
import jax.numpy as jnp
import numpy as np

from crisptree.learn.trajectory import Trajectory

T, R, F = 8, 6, 3


def any_trajectory(state, seed: int = 0) -> Trajectory:
    """Rows that end, and that do not act for a while after some of their ends."""
    random = np.random.default_rng(seed)
    observation, next_observation = random.normal(2, 3, size=(2, T, R, F)).astype(np.float32)
    done = random.uniform(size=(T, R)) < 0.3
    mask = np.ones((T, R), bool)
    for t in range(1, T):
        mask[t] = ~done[t - 1] | (random.uniform(size=R) < 0.3)
    done |= ~mask
    distribution = state.distribution(jnp.asarray(observation.reshape(-1, F)))
    action = state.head.sample(distribution, state.head.noise(jax.random.key(seed), (T * R,)))
    log_probability = state.head.log_probability(distribution, action)
    return Trajectory(
        observation=jnp.asarray(observation),
        action=action.reshape(T, R, *action.shape[1:]),
        log_probability=log_probability.reshape(T, R),
        reward=jnp.asarray(random.normal(size=(T, R)), jnp.float32),
        discounted_return=jnp.asarray(random.normal(size=(T, R)), jnp.float32),
        next_observation=jnp.asarray(next_observation),
        terminated=jnp.asarray(done & (random.uniform(size=(T, R)) < 0.5)),
        done=jnp.asarray(done),
        mask=jnp.asarray(mask),
        return_sum=jnp.asarray(12.0),
        n_episodes=jnp.asarray(4.0),
    )


def with_other_masked_rows(trajectory: Trajectory) -> Trajectory:
    """The same, but for what the rows that did not act hold."""
    random = np.random.default_rng(99)
    kept = np.asarray(trajectory.mask)

    def other(part, noise):
        return jnp.where(kept.reshape(T, R, *(1,) * (part.ndim - 2)), part, noise)

    return trajectory._replace(
        observation=other(trajectory.observation, random.normal(0, 1e4, (T, R, F))),
        action=other(trajectory.action, 1 - trajectory.action),
        log_probability=other(trajectory.log_probability, random.uniform(-20, 0, (T, R))),
        reward=other(trajectory.reward, random.normal(0, 1e4, (T, R))),
        discounted_return=other(trajectory.discounted_return, random.normal(0, 1e4, (T, R))),
        next_observation=other(trajectory.next_observation, random.normal(0, 1e4, (T, R, F))),
        terminated=other(trajectory.terminated, ~trajectory.terminated),
    )


def to_bytes(tree) -> list[bytes]:
    def numbers(leaf):
        is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(leaf) if is_key else leaf)

    return [numbers(leaf).tobytes() for leaf in jax.tree.leaves(tree)]
