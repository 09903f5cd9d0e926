import numpy as np
from verify_trees import FALLING, STEADY

from crisptree.verify.cartpole import environment, physics, replay, step, step_boxes


def test_a_step_is_gymnasium_s():
    env = environment()
    rng = np.random.default_rng(0)
    states = rng.uniform(-1, 1, (200, 4)) * [2.4, 3, 0.2, 3]
    actions = rng.integers(0, 2, 200)
    expected = []
    for state, action in zip(states, actions, strict=True):
        env.reset(seed=0)
        env.state = np.array(state)
        env.step(int(action))
        expected.append(env.state)
    assert np.allclose(step(states, actions), expected, rtol=1e-15, atol=1e-15)


def test_boxes_hold_every_state_inside_after_a_step_in_gymnasium():
    env = environment()
    rng = np.random.default_rng(1)
    middle = rng.uniform(-1, 1, (100, 4)) * [2, 2, 0.2, 2]
    half = rng.uniform(0, 0.1, (100, 4)) * rng.integers(0, 2, (100, 4))
    low, high = middle - half, middle + half
    for action in (0, 1):
        after_low, after_high = step_boxes(low, high, action)
        inside = np.clip(rng.uniform(low, high), low, high)
        for state, bottom, top in zip(inside, after_low, after_high, strict=True):
            env.reset(seed=0)
            env.state = np.array(state)
            env.step(action)
            assert (bottom <= env.state).all() and (env.state <= top).all()


def test_boxes_are_not_much_larger_than_they_must():
    """The image of a small box, against the extremes of many states in it."""
    low, high = np.array([[-0.01, 0.2, 0.05, -0.3]]), np.array([[0.01, 0.21, 0.06, -0.28]])
    states = np.random.default_rng(2).uniform(low, high, (20_000, 4))
    images = step(states, np.ones(20_000, np.int64))
    after_low, after_high = step_boxes(low, high, 1)
    assert (after_high - after_low <= 1.1 * np.ptp(images, axis=0)).all()


def test_replay_goes_until_the_episode_ends():
    limits = physics().limits
    states = replay(FALLING, np.full(4, 0.03), 100)
    assert len(states) < 30 and not (np.abs(states[-1]) <= limits).all()
    assert (np.abs(states[:-1]) <= limits).all()
    assert len(replay(STEADY, np.full(4, 0.03), 100)) == 101
