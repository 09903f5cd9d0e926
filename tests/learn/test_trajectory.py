import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crisptree.learn.rollout import generalised_advantages, sample_actions


def column(*values, dtype=np.float32) -> jax.Array:
    return jnp.asarray(np.array(values, dtype)[:, None])


def test_advantages_by_hand():
    """γ = 1/2, λ = 1/2. Step 1 terminates, step 3 is truncated, step 5 is cut by the rollout.

    δ0 = 1 + ½·2 - 4 = -2          A0 = -2 + ¼·A1 = -4
    δ1 = 2 + ½·0 - 10 = -8         A1 = -8 (terminated: nothing follows)
    δ2 = 4 + ½·6 - 3 = 4           A2 = 4 + ¼·A3 = 6
    δ3 = 3 + ½·12 - 1 = 8          A3 = 8 (truncated: V of the last observation, no further)
    δ4 = 0 + ½·8 - 2 = 2           A4 = 2 + ¼·A5 = 3
    δ5 = 1 + ½·10 - 2 = 4          A5 = 4 (the rollout ends)
    """
    advantages = generalised_advantages(
        reward=column(1, 2, 4, 3, 0, 1),
        value=column(4, 10, 3, 1, 2, 2),
        next_value=column(2, 100, 6, 12, 8, 10),
        terminated=column(0, 1, 0, 0, 0, 0, dtype=bool),
        done=column(0, 1, 0, 1, 0, 0, dtype=bool),
        gamma=0.5,
        trace=0.25,
    )
    assert advantages[:, 0].tolist() == [-4, -8, 6, 8, 3, 4]


def slow_advantages(reward, value, next_value, terminated, done, gamma, gae_lambda) -> np.ndarray:
    """The sum of discounted errors to the end of each episode, written out."""
    advantage = np.zeros(reward.shape)
    for t, row in np.ndindex(reward.shape):
        for k in range(t, len(reward)):
            following = 0.0 if terminated[k, row] else next_value[k, row]
            error = reward[k, row] + gamma * following - value[k, row]
            advantage[t, row] += (gamma * gae_lambda) ** (k - t) * error
            if done[k, row]:
                break
    return advantage


@functools.cache
def compiled_advantages(gamma: float, gae_lambda: float):
    trace = gamma * gae_lambda
    return jax.jit(functools.partial(generalised_advantages, gamma=gamma, trace=trace))


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from([(0.5, 0.95), (0.99, 0.0), (1.0, 1.0)]))
def test_advantages_of_random_episodes(seed, discounts):
    random = np.random.default_rng(seed)
    reward, value, next_value = random.normal(size=(3, 20, 3)).astype(np.float32)
    terminated, truncated = random.uniform(size=(2, 20, 3)) < 0.15
    rollout = (reward, value, next_value, terminated, terminated | truncated)
    fast = compiled_advantages(*discounts)(*map(jnp.asarray, rollout))
    np.testing.assert_allclose(fast, slow_advantages(*rollout, *discounts), atol=1e-4)


def test_without_values_and_with_lambda_one_they_are_returns_to_go():
    nothing = jnp.zeros((3, 1))
    ends = column(0, 0, 1, dtype=bool)
    advantages = generalised_advantages(column(1, 2, 3), nothing, nothing, ends, ends, 0.5, 0.5)
    assert advantages[:, 0].tolist() == [1 + 1 + 0.75, 2 + 1.5, 3]


def test_actions_come_as_often_as_the_policy_says():
    policy = np.array([0.1, 0.0, 0.6, 0.25, 0.05])
    n = 40_000
    log_policy = jnp.broadcast_to(jnp.log(jnp.maximum(jnp.asarray(policy), 1e-30)), (n, 5))
    actions, log_probability = sample_actions(
        log_policy, jax.random.uniform(jax.random.key(0), (n,))
    )
    counts = np.bincount(actions, minlength=5)
    assert counts[1] == 0
    np.testing.assert_allclose(counts / n, policy, atol=4 * np.sqrt(0.25 / n))
    taken = policy[np.asarray(actions)]
    np.testing.assert_allclose(np.exp(log_probability), taken, rtol=1e-6)


def test_actions_by_inversion():
    """A uniform number u picks the action whose part of the unit interval u lies in."""
    uniform = jnp.array([0.0, 0.24, 0.25, 0.49, 0.5, 0.99])
    log_policy = jnp.log(jnp.broadcast_to(jnp.array([0.25, 0.25, 0.5]), (6, 3)))
    actions, _ = sample_actions(log_policy, uniform)
    assert actions.tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("uniform", [1 - 2**-24, 1 - 2**-23, 1 - 2**-20])
@pytest.mark.parametrize("n_actions", [2, 3, 10, 37])
def test_a_uniform_close_to_one_never_picks_the_impossible(uniform, n_actions):
    """Probabilities that fall short of one by rounding, and a last action that has none."""
    random = np.random.default_rng(n_actions)
    policy = random.dirichlet(np.ones(n_actions), size=2000) * (1 - 3e-7)
    policy[:, -1] = 1e-30
    log_policy = jnp.log(jnp.asarray(policy, jnp.float32))
    actions, log_probability = sample_actions(log_policy, jnp.full(2000, uniform, jnp.float32))
    assert (actions < n_actions - 1).all()
    assert jnp.isfinite(log_probability).all()
