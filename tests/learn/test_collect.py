import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probe_envs import Lifeboat

from crisptree.learn import ppo
from crisptree.learn.collect import collect, fresh_envs
from crisptree.learn.config import PPOConfig
from crisptree.soft import SoftTree, balanced

CONFIG = PPOConfig(n_envs=2, n_steps=8, n_minibatches=1, gamma=0.5)


def collected(env: Lifeboat):
    """The environments afterwards, and the trajectory."""
    tree = SoftTree.random(balanced(4), 3, 2, key=jax.random.key(0))
    state = ppo.init(tree, 3, CONFIG, 10, key=jax.random.key(1))
    envs = fresh_envs(env, CONFIG.n_envs, jax.random.key(2))
    return eqx.filter_jit(collect)(state, envs, env, CONFIG)


@pytest.fixture(scope="module")
def seen():
    return collected(Lifeboat())


def by_env(part) -> np.ndarray:
    """(T, N·A, …) as (T, N, A, …)."""
    return np.asarray(part).reshape(8, 2, 3, *part.shape[2:])


# the time within an episode of three steps, eight times
TIMES = np.array([0, 1, 2, 0, 1, 2, 0, 1])


def test_dead_agents_are_masked_until_all_are_dead(seen):
    _, trajectory = seen
    alive = TIMES[:, None] < np.array([1, 3, 2])
    np.testing.assert_array_equal(by_env(trajectory.mask), np.stack([alive, alive], 1))


def test_every_agent_s_time_line_is_cut_where_it_dies(seen):
    _, trajectory = seen
    dead = TIMES[:, None] + 1 >= np.array([1, 3, 2])
    np.testing.assert_array_equal(by_env(trajectory.terminated)[:, 0], dead)
    np.testing.assert_array_equal(trajectory.done, trajectory.terminated)


def test_what_is_seen_next_is_of_the_same_episode(seen):
    """`next_observation` is before any reset; the observation after it begins the next episode."""
    _, trajectory = seen
    here, led_to = by_env(trajectory.observation), by_env(trajectory.next_observation)
    for i in range(3):
        assert (here[:, :, i, 0] == i).all()
        np.testing.assert_array_equal(here[:, 0, i, 1], TIMES)
        np.testing.assert_array_equal(led_to[:, 0, i, 1], TIMES + 1)
    np.testing.assert_array_equal(here[..., 2], led_to[..., 2])
    numbers = here[[0, 3, 6], :, 0, 2]
    assert len(set(numbers.ravel())) == 6  # three episodes of two environments, all different
    np.testing.assert_array_equal(here[:, :, 0, 2], numbers[[0, 0, 0, 1, 1, 1, 2, 2]])


def test_rewards_and_discounted_returns(seen):
    _, trajectory = seen
    reward = 10 * np.arange(3.0) + TIMES[:, None]
    np.testing.assert_array_equal(by_env(trajectory.reward)[:, 1], reward)
    # agent 1 lives three steps, with γ = ½: 10, 11 + 5, 12 + 8
    running = by_env(trajectory.discounted_return)[:, 0, 1]
    np.testing.assert_array_equal(running, [10, 16, 20, 10, 16, 20, 10, 16])


def test_the_return_of_an_episode_is_the_mean_over_those_alive(seen):
    envs, trajectory = seen
    once = (0 + 10 + 20) / 3 + (11 + 21) / 2 + 12
    assert float(trajectory.n_episodes) == 4
    assert float(trajectory.return_sum) == pytest.approx(4 * once)
    np.testing.assert_allclose(envs.episode_return, (0 + 10 + 20) / 3 + (11 + 21) / 2)
    np.testing.assert_array_equal(envs.alive, [[False, True, False]] * 2)


def test_log_probabilities_are_those_of_the_actions_taken(seen):
    _, trajectory = seen
    tree = SoftTree.random(balanced(4), 3, 2, key=jax.random.key(0))
    rows = trajectory.observation.reshape(-1, 3)
    log_policy = jax.vmap(tree.log_policy)(rows)  # nothing was seen yet: no standardisation
    taken = np.take_along_axis(np.asarray(log_policy), trajectory.action.reshape(-1, 1), 1)
    np.testing.assert_allclose(trajectory.log_probability.reshape(-1), taken[:, 0], rtol=1e-5)
    assert set(np.unique(trajectory.action)) == {0, 1}


def test_the_clock_ends_the_episode_of_all():
    """Truncated at step 2, agent 0 has terminated and the others have not: they bootstrap."""
    _, trajectory = collected(Lifeboat(max_steps=2))
    terminated, done = by_env(trajectory.terminated)[:, 0], by_env(trajectory.done)[:, 0]
    assert float(trajectory.n_episodes) == 8
    np.testing.assert_array_equal(terminated[:2], [[True, False, False], [True, False, True]])
    np.testing.assert_array_equal(done[:2], [[True, False, False], [True, True, True]])
    np.testing.assert_array_equal(by_env(trajectory.mask)[:3, 0], [[1, 1, 1], [0, 1, 1], [1, 1, 1]])
    assert jnp.isfinite(trajectory.log_probability).all()
