from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.envs.cartpole import ANGLE_LIMIT, POSITION_LIMIT, CartPole, CartPoleState
from crisptree.envs.functional import FunctionalEnv

ENV = CartPole()
STEPS = 100_000


def steps_of_gymnasium() -> tuple[np.ndarray, ...]:
    """States, actions, what they led to, rewards and ends: under a clumsy balancer, so that
    episodes are of all lengths and end by the angle and by the position."""
    env: Any = gymnasium.make("CartPole-v1").unwrapped
    random = np.random.default_rng(0)
    clumsiness, choices = random.uniform(0, 1, STEPS), random.integers(0, 2, STEPS)
    seen = []
    env.reset(seed=0)
    for careless, choice in zip(clumsiness, choices, strict=True):
        _, velocity, angle, angular_velocity = state = np.asarray(env.state)
        balancing = int(angle + 0.2 * angular_velocity - 0.05 * velocity > 0)
        action = int(choice) if careless < 0.5 else balancing
        _, reward, terminated, truncated, _ = env.step(action)
        assert not truncated
        seen.append((state, action, np.asarray(env.state), reward, terminated))
        if terminated:
            env.reset()
    env.close()
    return tuple(map(np.asarray, zip(*seen, strict=True)))


def test_a_hundred_thousand_steps_are_gymnasium_s():
    state, action, led_to, reward, terminated = steps_of_gymnasium()
    by_position = (np.abs(led_to[:, 0]) > POSITION_LIMIT).sum()
    assert min(by_position, terminated.sum() - by_position) > 50  # both kinds of end are there
    at = jax.jit(jax.vmap(ENV.step, (None, 0, 0)))(
        jax.random.key(0),
        CartPoleState(jnp.asarray(state, jnp.float32), jnp.zeros(STEPS, jnp.int32)),
        jnp.asarray(action, jnp.int32),
    )
    # float32 has 24 bits; a step sums a few terms of the size of the state
    np.testing.assert_allclose(at.observation, led_to, rtol=3e-7, atol=3e-7)
    np.testing.assert_array_equal(at.state.physics, at.observation)
    limits = np.array([POSITION_LIMIT, ANGLE_LIMIT])
    near = (np.abs(np.abs(led_to[:, [0, 2]]) - limits) < 1e-6).any(1)
    assert near.mean() < 0.001
    np.testing.assert_array_equal(np.asarray(at.terminated)[~near], terminated[~near])
    np.testing.assert_array_equal(at.reward, reward)
    assert not at.truncated.any()


def test_constants_are_gymnasium_s():
    env: Any = gymnasium.make("CartPole-v1")
    assert env.unwrapped.theta_threshold_radians == pytest.approx(ANGLE_LIMIT, rel=1e-12)
    assert env.unwrapped.x_threshold == POSITION_LIMIT
    assert env.spec.max_episode_steps == ENV.max_steps == 500
    assert env.observation_space.shape == (ENV.n_features,)
    assert env.action_space.n == len(ENV.actions.names)
    env.close()


def test_it_is_truncated_at_500_and_not_terminated():
    """The same balanced episode in both, to the end that the clock brings."""
    env = gymnasium.make("CartPole-v1")
    observation, _ = env.reset(seed=1)
    step = jax.jit(ENV.step)
    state = CartPoleState(jnp.asarray(observation), jnp.zeros((), jnp.int32))
    for time in range(1, 501):
        position, velocity, angle, angular_velocity = observation
        action = int(angle + 0.3 * angular_velocity + 0.05 * position + 0.1 * velocity > 0)
        observation, _, terminated, truncated, _ = env.step(action)
        at = step(jax.random.key(0), state, jnp.asarray(action))
        state = CartPoleState(jnp.asarray(observation), at.state.time)  # of gymnasium's own
        assert (bool(at.terminated), bool(at.truncated)) == (terminated, truncated)
        assert truncated == (time == 500)
    env.close()


def test_falling_on_the_last_step_is_termination_too():
    fallen = CartPoleState(jnp.array([2.5, 1.0, 0.0, 0.0]), jnp.asarray(499))
    at = ENV.step(jax.random.key(0), fallen, jnp.asarray(1))
    assert bool(at.terminated)
    assert bool(at.truncated)


def test_resets_are_uniform_and_follow_the_key():
    states, observations = jax.vmap(ENV.reset)(jax.random.split(jax.random.key(0), 4000))
    np.testing.assert_array_equal(states.physics, observations)
    assert not states.time.any()
    assert jnp.abs(observations).max() <= 0.05
    np.testing.assert_allclose(observations.mean(0), 0, atol=0.002)
    np.testing.assert_allclose(observations.std(0), 0.1 / np.sqrt(12), rtol=0.03)
    np.testing.assert_allclose(np.corrcoef(observations.T), np.eye(4), atol=0.06)
    again = ENV.reset(jax.random.split(jax.random.key(0), 4000)[7])[1]
    np.testing.assert_array_equal(again, observations[7])


def test_it_is_a_functional_environment_and_a_static_one():
    assert isinstance(ENV, FunctionalEnv)
    assert hash(ENV) == hash(CartPole())
