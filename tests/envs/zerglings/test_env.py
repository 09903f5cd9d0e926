from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.envs.functional import FunctionalEnv
from crisptree.envs.zerglings.env import FindAndDefeatZerglings
from crisptree.envs.zerglings.rules import GRAINS

ENV = FindAndDefeatZerglings()
RESET, STEP = jax.jit(ENV.reset), jax.jit(ENV.step)
NOTHING, ATTACK_NEAREST = 9, 4


def acts(*ids):
    return jnp.array(ids)


def play(state, action, n, key=1):
    """`n` steps; the last one, and the sum of the team's rewards."""
    at: Any = None
    total = 0.0
    for k in jax.random.split(jax.random.key(key), n):
        at = STEP(k, state, action)
        state, total = at.state, total + float(at.reward[0])
    return at, total


def test_it_is_a_functional_environment():
    assert isinstance(ENV, FunctionalEnv)
    assert (ENV.n_agents, ENV.n_features, len(ENV.action_names)) == (3, 37, 10)


def test_the_opening():
    state, observation = RESET(jax.random.key(0))
    angles = np.radians([210, 330, 90])
    want = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    np.testing.assert_allclose(observation[:, :2], want, atol=1 / GRAINS)
    np.testing.assert_array_equal(observation[:, 2:4], [[1, 0]] * 3)
    assert (np.asarray(state.zerglings.health) == 35).all()
    assert (np.asarray(observation[:, 14]) == 1).all()  # one is in sight at least
    others = [np.asarray(RESET(jax.random.key(k))[0].zerglings.xy).tobytes() for k in range(20)]
    assert len(set(others)) > 18


def test_standing_still_nothing_happens():
    state, _ = RESET(jax.random.key(0))
    at, total = play(state, acts(9, 9, 9), 12)
    assert total == 0
    np.testing.assert_array_equal(at.state.zerglings.xy, state.zerglings.xy)
    np.testing.assert_array_equal(at.state.marines.xy, state.marines.xy)
    assert at.state.loops == 96


def test_three_marines_kill_what_they_see_for_one_point_each():
    state, _ = RESET(jax.random.key(2))
    in_sight = len(np.unique(np.asarray(state.nearest)[0])) - 1
    at, total = play(state, acts(4, 4, 4), 40)
    assert total >= in_sight > 0
    assert total == (np.asarray(at.state.zerglings.health) <= 0).sum()
    assert (np.asarray(at.state.marines.health) > 0).all()


def test_an_order_goes_on_until_there_is_another():
    state, _ = RESET(jax.random.key(0))
    once = STEP(jax.random.key(1), state, acts(0, 0, 0)).state
    later = STEP(jax.random.key(1), once, acts(9, 8, 8)).state
    moved = np.asarray(later.marines.xy - once.marines.xy)[1] / GRAINS
    assert (moved > 1).all()
    np.testing.assert_array_equal(later.marines.order_xy, once.marines.order_xy)


@pytest.mark.parametrize("action", [-1, 10, 99])
def test_unknown_ids_give_no_order(action):
    state, _ = RESET(jax.random.key(0))
    at = STEP(jax.random.key(1), state, acts(action, 9, 9))
    still = STEP(jax.random.key(1), state, acts(9, 9, 9))
    jax.tree.map(np.testing.assert_array_equal, at, still)


def crowded(state):
    """All zerglings around the first marine, which has one hit point left."""
    ring = np.random.default_rng(0).normal(0, 1, (2, 25))
    ring = 1.5 * ring / np.linalg.norm(ring, axis=0)
    xy = state.marines.xy[:, :1] + np.rint(ring * GRAINS).astype(np.int32)
    far = jnp.array([[12, 50], [14, 14]]) * GRAINS
    marines = state.marines._replace(
        health=jnp.array([1.0, 45.0, 45.0]), xy=jnp.concatenate([state.marines.xy[:, :1], far], 1)
    )
    return state._replace(marines=marines, zerglings=state.zerglings._replace(xy=xy))


def test_a_lost_marine_costs_a_point_and_leaves():
    state = crowded(RESET(jax.random.key(0))[0])
    at, total = play(state, acts(9, 9, 9), 3)
    kills = (np.asarray(at.state.zerglings.health) <= 0).sum()
    assert total == kills - 1
    np.testing.assert_array_equal(at.terminated, [True, False, False])
    np.testing.assert_array_equal(at.observation[0], np.full(37, -1))
    assert not at.truncated
    left, right = (STEP(jax.random.key(5), at.state, acts(a, 9, 9)) for a in (0, 4))
    np.testing.assert_array_equal(left.observation, right.observation)
    np.testing.assert_array_equal(left.state.marines.xy, right.state.marines.xy)


def test_a_cleared_arena_fills_again_away_from_the_marines():
    def cleared(key):
        state, _ = ENV.reset(key)
        health = state.zerglings.health * 0
        zerglings = state.zerglings._replace(health=health)
        marines = state.marines._replace(order=jnp.array([2, 1, 0]), health=jnp.full(3, 10.0))
        return ENV.step(key, state._replace(zerglings=zerglings, marines=marines), acts(9, 9, 9))

    at = jax.jit(jax.vmap(cleared))(jax.random.split(jax.random.key(3), 200))
    assert (np.asarray(at.state.zerglings.health) == 35).all()
    assert (np.asarray(at.reward) == 0).all()
    np.testing.assert_array_equal(at.state.marines.health, np.full((200, 3), 10))
    assert (np.asarray(at.state.marines.order) != 2).all()
    zerglings, marines = np.asarray(at.state.zerglings.xy), np.asarray(at.state.marines.xy)
    gap = np.linalg.norm(zerglings[:, :, None, :] - marines[:, :, :, None], axis=1) / GRAINS
    assert gap.min() >= 9 - 0.01
    pairs = np.linalg.norm(zerglings[:, :, :, None] - zerglings[:, :, None, :], axis=1) / GRAINS
    pairs[:, np.arange(25), np.arange(25)] = np.inf
    assert pairs.min() >= 5 - 0.01
    assert len(np.unique(zerglings.reshape(200, -1), axis=0)) > 180


def test_the_clock_truncates_after_360_steps():
    state, _ = RESET(jax.random.key(0))
    at, _ = play(state._replace(loops=jnp.int32(2864)), acts(9, 9, 9), 1)
    assert not at.truncated
    assert play(at.state, acts(9, 9, 9), 1)[0].truncated


def rollout(keys, actions):
    def episode(key):
        def step(carry, at):
            key, action = at
            then = ENV.step(key, carry, action)
            return then.state, (then.observation, then.reward)

        reset, steps = jax.random.split(key)
        state, _ = ENV.reset(reset)
        return jax.lax.scan(step, state, (jax.random.split(steps, len(actions)), actions))[1]

    return episode(keys) if keys.ndim == 0 else jax.vmap(episode)(keys)


def test_a_batch_is_the_same_to_the_last_bit_as_one_alone():
    actions = jax.random.randint(jax.random.key(9), (200, 3), 0, 10)
    keys = jax.random.split(jax.random.key(4), 19)
    batch = jax.jit(lambda k: rollout(k, actions))(keys)
    alone = jax.jit(lambda k: rollout(k, actions))
    for i in (0, 9, 18):
        for one, many in zip(alone(keys[i]), batch, strict=True):
            assert np.asarray(one).tobytes() == np.asarray(many[i]).tobytes()


@pytest.mark.parametrize("n", [256, pytest.param(2800, marks=pytest.mark.slow)])
def test_random_steps_stay_finite_and_within_bounds(n):
    """The slow one makes a million steps."""
    actions = jax.random.randint(jax.random.key(0), (360, 3), -1, 11)
    run = jax.jit(lambda k: [(x.min((0, 1)), x.max((0, 1))) for x in rollout(k, actions)])
    seen, reward = run(jax.random.split(jax.random.key(5), n))
    low, high = ENV.bounds()
    assert (np.asarray(seen[0]) >= low).all() and (np.asarray(seen[1]) <= high).all()
    assert (np.asarray(reward[0]) >= -3).all() and (np.asarray(reward[1]) <= 25).all()
