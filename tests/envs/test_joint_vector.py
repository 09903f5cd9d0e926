import gymnasium as gym
import numpy as np
import pygame
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.envs import joint, joint_vector


@pytest.mark.parametrize(("name", "steps"), [("wildfire", 260), ("zerglings", 200)])
def test_it_is_step_for_step_what_gymnasium_makes_of_single_environments(name, steps):
    """To the last bit, over ends of episodes and the resets that follow."""
    many = getattr(joint_vector, name)(num_envs=3)
    single = gym.vector.SyncVectorEnv([getattr(joint, name)] * 3)
    assert many.observation_space == single.observation_space
    assert many.action_space == single.action_space
    assert many.metadata["autoreset_mode"] == single.metadata["autoreset_mode"]
    np.testing.assert_array_equal(many.reset(seed=5)[0], single.reset(seed=5)[0])
    rng, ends = np.random.default_rng(0), 0
    for _ in range(steps):
        actions = rng.integers(0, [many.single_action_space.nvec] * 3)
        ours, theirs = many.step(actions), single.step(actions)
        for a, b in zip(ours[:4], theirs[:4], strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(ours[4]["alive"], np.stack(theirs[4]["alive"]))
        ends += (ours[2] | ours[3]).sum()
    assert ends >= 3
    np.testing.assert_array_equal(many.reset()[0], single.reset()[0])
    seeds = [9, None, 2]
    np.testing.assert_array_equal(many.reset(seed=seeds)[0][0], single.reset(seed=seeds)[0][0])


def test_mistakes_are_told():
    env = joint_vector.wildfire(num_envs=2)
    with pytest.raises(gym.error.ResetNeeded):
        env.step(np.zeros((2, 2), int))
    with pytest.raises(CrisptreeError, match="3 seeds were given for 2 environments"):
        env.reset(seed=[1, 2, 3])
    env.reset(seed=0)
    with pytest.raises(CrisptreeError, match=r"shape \(2, 2\)"):
        env.step(np.zeros(2, int))
    with pytest.raises(CrisptreeError, match="no action -1"):
        env.step(np.full((2, 2), -1))


def test_pictures():
    env = joint_vector.wildfire(num_envs=2, render_mode="rgb_array")
    env.reset(seed=0)
    first, second = env.render()
    single = joint.wildfire(render_mode="rgb_array")
    single.reset(seed=1)
    np.testing.assert_array_equal(second, single.render())
    assert (first != second).any()


def test_pictures_outlive_another_environments_window():
    env = joint_vector.wildfire(num_envs=1, render_mode="rgb_array")
    env.reset(seed=0)
    (before,) = env.render()
    pygame.quit()  # What gymnasium's own environments do when they are closed.
    (after,) = env.render()
    np.testing.assert_array_equal(before, after)
