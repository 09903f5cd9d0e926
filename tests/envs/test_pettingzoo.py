import warnings

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from crisptree.base.errors import CrisptreeError
from crisptree.envs import joint
from crisptree.envs.pettingzoo import wildfire, zerglings

with warnings.catch_warnings():
    # PettingZoo's tests import environments of its own that it has deprecated.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import parallel_api_test, parallel_seed_test


@pytest.mark.parametrize("make", [wildfire, zerglings])
def test_pettingzoo_s_own_checks_are_clean(make):
    parallel_api_test(make(), num_cycles=150)
    parallel_seed_test(make, num_cycles=20)


def test_it_tells_the_same_as_the_joint_environment():
    many, one = zerglings(), joint.zerglings()
    rows, seen = many.reset(seed=1)[0], one.reset(seed=1)[0]
    rng, dead = np.random.default_rng(1), {}
    while many.agents:
        np.testing.assert_array_equal(np.stack([rows[a] for a in many.agents]), seen[alive(many)])
        actions = rng.integers(0, 10, 3)
        acted = dict(zip(many.possible_agents, actions, strict=True))
        rows, rewards, dead, late, _ = many.step({a: acted[a] for a in many.agents})
        seen, reward, _, truncated, info = one.step(actions)
        assert set(rewards.values()) == {reward} and set(late.values()) == {truncated}
        for agent, gone in dead.items():
            assert gone == (not info["alive"][many.possible_agents.index(agent)])
    assert all(dead.values())


def alive(env):
    return np.isin(env.possible_agents, env.agents)


def test_mistakes_are_told():
    env = wildfire(horizon=1)
    with pytest.raises(gym.error.ResetNeeded):
        env.step({})
    env.reset(seed=0)
    with pytest.raises(CrisptreeError, match="due from drone_0, drone_1, not from drone_0"):
        env.step({"drone_0": 1})
    with pytest.raises(CrisptreeError, match="no action 7"):
        env.step({"drone_0": 1, "drone_1": 7})
    env.step({"drone_0": 1, "drone_1": 1})
    assert env.agents == []
    with pytest.raises(gym.error.ResetNeeded):
        env.step({"drone_0": 1, "drone_1": 1})
