import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crisptree.learn.trajectory import generalized_advantages, masked_mean, standardized


def column(*values, dtype: Any = np.float32) -> jax.Array:
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
    advantages = generalized_advantages(
        reward=column(1, 2, 4, 3, 0, 1),
        value=column(4, 10, 3, 1, 2, 2),
        next_value=column(2, 100, 6, 12, 8, 10),
        terminated=column(0, 1, 0, 0, 0, 0, dtype=bool),
        done=column(0, 1, 0, 1, 0, 0, dtype=bool),
        gamma=0.5,
        gae_lambda=0.5,
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
    discounts = {"gamma": gamma, "gae_lambda": gae_lambda}
    return jax.jit(functools.partial(generalized_advantages, **discounts))


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
    advantages = generalized_advantages(column(1, 2, 3), nothing, nothing, ends, ends, 0.5, 1.0)
    assert advantages[:, 0].tolist() == [1 + 1 + 0.75, 2 + 1.5, 3]


KEPT = jnp.array([True, True, False, True])


def test_a_mean_over_what_is_not_masked():
    assert float(masked_mean(jnp.array([1.0, 2.0, 100.0, 6.0]), KEPT)) == 3
    assert float(masked_mean(jnp.ones(4), jnp.zeros(4, bool))) == 0


def test_standardized_rows():
    x = np.asarray(standardized(jnp.array([1.0, 2.0, 100.0, 6.0]), KEPT))[[0, 1, 3]]
    np.testing.assert_allclose([x.mean(), x.std()], [0, 1], atol=1e-6)
    assert standardized(jnp.full(4, 7.0), KEPT).tolist() == [0, 0, 0, 0]
