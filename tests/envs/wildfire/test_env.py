from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.envs.functional import FunctionalEnv
from crisptree.envs.wildfire.env import Wildfire, WildfireState

NORTH, EAST, SOUTH, WEST, NOTHING = range(5)
ENV = Wildfire()


@cache
def compiled(env: Wildfire):
    return jax.jit(env.reset), jax.jit(env.step)


def state_at(drones, fires, env=ENV, steps=0):
    """Drones and fires (each front a single place) at these pixels."""
    drones = np.rint(np.array(drones) * env.grains).astype(np.int32)
    fires = np.rint(np.array(fires) * env.grains).astype(np.int32)
    fronts = np.repeat(fires[:, :, None], env.front_points, axis=2)
    return WildfireState(jnp.asarray(drones), jnp.asarray(fronts), jnp.int32(steps))


def test_it_is_a_functional_environment():
    assert isinstance(ENV, FunctionalEnv)
    assert (ENV.n_agents, ENV.n_features) == (2, 6)
    assert len(ENV.feature_names) == 6 and len(ENV.action_names) == 5
    assert ENV.grains == 64


def test_fires_start_in_the_south_east_and_drones_anywhere():
    states, _ = jax.jit(jax.vmap(ENV.reset))(jax.random.split(jax.random.key(0), 4000))
    drones, fronts = np.asarray(states.drones) / 64, np.asarray(states.fronts) / 64
    ignitions = fronts.mean(-1)
    x, y = ignitions[..., 0], ignitions[..., 1]
    assert x.min() > 240 and y.max() < 260
    np.testing.assert_allclose([x.mean(), y.mean()], [375, 125], atol=3)
    np.testing.assert_allclose(drones.mean((0, 1)), [250, 250], atol=6)
    np.testing.assert_allclose(drones.std((0, 1)), 500 / 12**0.5, atol=4)
    inside = (np.abs(ignitions - np.clip(ignitions, 20, 480)) == 0).all(-1)
    radius = np.linalg.norm(fronts - ignitions[..., None], axis=2)[inside]
    np.testing.assert_allclose(radius, 10, atol=0.05)


def test_an_observation_tells_how_far_north_and_west_each_fire_is():
    state = state_at([[100, 100], [400, 50]], [[50, 300], [420, 20]])
    want = [[200, 50, 1, -80, -320, 0], [250, 350, 0, -30, -20, 1]]
    np.testing.assert_array_equal(ENV.observe(state), np.array(want, np.float32))


def test_flags_tell_the_closest_drone_or_the_closest_fire():
    other = Wildfire(flags="fire")
    state = state_at([[100, 100], [400, 50]], [[350, 300], [420, 20]])
    np.testing.assert_array_equal(np.asarray(ENV.observe(state))[:, [2, 5]], [[0, 0], [1, 1]])
    np.testing.assert_array_equal(np.asarray(other.observe(state))[:, [2, 5]], [[1, 0], [0, 1]])


def test_the_reward_is_equation_16_in_map_sides():
    state = state_at([[0, 0], [100, 0]], [[30, 40], [100, 75]])
    assert ENV.reward(state) == pytest.approx(-(50 + 75) / 500)


@pytest.mark.parametrize(
    ("action", "move"),
    [
        (NORTH, (0, 5)),
        (EAST, (5, 0)),
        (SOUTH, (0, -5)),
        (WEST, (-5, 0)),
        (NOTHING, (0, 0)),
        (-1, (0, 0)),
        (5, (0, 0)),
        (99, (0, 0)),
    ],
)
def test_actions_move_a_drone_and_unknown_ids_do_nothing(action, move):
    _, step = compiled(ENV)
    state = state_at([[100, 100], [200, 200]], [[300, 100], [400, 100]])
    at = step(jax.random.key(0), state, jnp.array([action, NOTHING]))
    np.testing.assert_array_equal(np.asarray(at.state.drones) / 64, [np.add(100, move), [200, 200]])


def test_nothing_leaves_the_map():
    _, step = compiled(ENV)
    state = state_at([[498, 3], [2, 499]], [[1, 499], [0, 500]])
    for actions in ([EAST, WEST], [SOUTH, NORTH]):
        state = step(jax.random.key(1), state, jnp.array(actions)).state
    np.testing.assert_array_equal(np.asarray(state.drones) / 64, [[500, 0], [0, 500]])
    assert state.fronts.min() >= 0 and state.fronts.max() <= 500 * 64


def test_fires_go_north_west_at_the_rate_the_model_gives():
    """Over many draws: E[C] = R E[C/R], towards 315 degrees, spread by the azimuth's deviation."""
    state = state_at([[0, 0], [0, 0]], [[400, 100], [300, 50]])
    keys = jax.random.split(jax.random.key(2), 4000)
    burn = jax.vmap(lambda key: ENV.step(key, state, jnp.array([4, 4])).state.fronts)
    after = jax.jit(burn)(keys)
    move = np.asarray(after - state.fronts[None]) / 64
    wind = np.maximum(np.random.default_rng(0).normal(5, 1, 100_000), 0)
    shape = 0.936 * np.exp(0.2566 * wind) + 0.461 * np.exp(-0.1548 * wind) - 0.397
    root = np.sqrt(shape**2 - 1)
    speed = 8 * np.mean(1 - shape / (shape + root)) * np.exp(-(0.2**2) / 2) / 2**0.5
    np.testing.assert_allclose(move.mean((0, 1, 3)), [-speed, speed], rtol=0.01)
    length = np.linalg.norm(move, axis=2)
    assert length.max() <= 16 * 0.5 and length.min() < 0.1
    turned = np.arctan2(move[:, :, 0], move[:, :, 1])[length > 3] + np.pi / 4
    assert turned.std() == pytest.approx(0.2, abs=0.01)


def test_an_episode_is_truncated_at_the_horizon_and_never_terminates():
    _, step = compiled(ENV)
    state = state_at([[0, 0], [9, 9]], [[400, 100], [300, 50]], steps=118)
    first = step(jax.random.key(0), state, jnp.array([4, 4]))
    second = step(jax.random.key(0), first.state, jnp.array([4, 4]))
    assert not first.truncated and second.truncated
    assert not second.terminated.any()


def rollout(env, keys, actions):
    """Observations and rewards of one episode a key: `(T, …)` each."""

    def episode(key):
        def step(carry, at):
            key, action = at
            then = env.step(key, carry, action)
            return then.state, (then.observation, then.reward)

        reset, steps = jax.random.split(key)
        state, _ = env.reset(reset)
        return jax.lax.scan(step, state, (jax.random.split(steps, len(actions)), actions))[1]

    return episode(keys) if keys.ndim == 0 else jax.vmap(episode)(keys)


def test_a_batch_is_the_same_to_the_last_bit_as_one_alone():
    actions = jax.random.randint(jax.random.key(9), (120, 2), 0, 5)
    keys = jax.random.split(jax.random.key(4), 37)
    batch = jax.jit(lambda k: rollout(ENV, k, actions))(keys)
    alone = jax.jit(lambda k: rollout(ENV, k, actions))
    for i in (0, 17, 36):
        for one, many in zip(alone(keys[i]), batch, strict=True):
            assert np.asarray(one).tobytes() == np.asarray(many[i]).tobytes()


def test_a_million_random_steps_stay_finite_and_within_bounds():
    actions = jax.random.randint(jax.random.key(0), (125, 2), -1, 7)
    run = jax.jit(lambda k: [(x.min((0, 1)), x.max((0, 1))) for x in rollout(ENV, k, actions)])
    seen, reward = run(jax.random.split(jax.random.key(5), 8192))
    low, high = ENV.bounds()
    assert (np.asarray(seen[0]) >= low).all() and (np.asarray(seen[1]) <= high).all()
    assert (np.asarray(reward[0]) >= -2 * 2**0.5).all() and (np.asarray(reward[1]) <= 0).all()


def test_other_maps_keep_exact_distances():
    env = Wildfire(map_side=5000.0, drone_step=50.0)
    state = state_at([[0, 0], [0, 0]], [[5000, 5000], [3000, 4000]], env)
    want = -(5000 * 2**0.5 + 5000) / 5000
    assert env.reward(state) == pytest.approx(want, rel=1e-6)
