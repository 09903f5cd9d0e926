from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.envs.gym_registration import WILDFIRE, ZERGLINGS
from crisptree.envs.joint import wildfire, zerglings


@pytest.mark.parametrize("env_id", [WILDFIRE, ZERGLINGS])
def test_gymnasium_s_own_checks_are_clean(env_id, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = gym.make(env_id, render_mode="rgb_array")
    check_env(env.unwrapped)
    env.close()


def episode(env, seed, n=60):
    rng = np.random.default_rng(0)
    found = [env.reset(seed=seed)[0]]
    for _ in range(n):
        seen, reward, *_ = env.step(rng.integers(0, env.action_space.nvec))
        found += [seen, np.float32(reward)]
    return b"".join(np.asarray(x).tobytes() for x in found)


def test_the_same_seed_gives_the_same_bytes_in_any_instance():
    first = episode(wildfire(), 3)
    env = wildfire()
    assert episode(env, 3) == first == episode(env, 3)
    assert episode(env, 4) != first


def test_without_a_seed_the_next_episode_is_another_one_that_follows_from_the_first():
    a, b = wildfire(), wildfire()
    openings = [(env.reset(seed=1)[0], env.reset()[0]) for env in (a, b)]
    np.testing.assert_array_equal(openings[0], openings[1])
    assert (openings[0][0] != openings[0][1]).any()


def test_the_reward_is_the_team_s_once():
    env = wildfire()
    env.reset(seed=0)
    seen, reward, terminated, _, info = env.step([4, 4])
    distance = np.linalg.norm(seen.reshape(2, 2, 3)[..., :2], axis=-1)
    assert reward == pytest.approx(-distance.min(0).sum() / 500, rel=1e-5)
    assert not terminated and info["alive"].all()


def test_mistakes_are_told():
    env = wildfire(horizon=2)
    with pytest.raises(gym.error.ResetNeeded):
        env.step([0, 0])
    env.reset(seed=0)
    with pytest.raises(CrisptreeError, match="no action 5; the actions are 0 north, 1 east"):
        env.step([0, 5])
    with pytest.raises(CrisptreeError, match=r"shape \(2,\), not int64 of shape \(3,\)"):
        env.step([0, 0, 0])
    with pytest.raises(CrisptreeError, match="integers"):
        env.step([0.5, 1.0])
    env.step([0, 0])
    assert env.step([0, 0])[3]
    with pytest.raises(gym.error.ResetNeeded, match="call reset"):
        env.step([0, 0])
    with pytest.raises(CrisptreeError, match="rgb_array, human, not 'ansi'"):
        wildfire(render_mode="ansi")


def test_dead_marines_are_told_apart_and_the_last_death_terminates():
    env = zerglings()
    env.reset(seed=1)
    rng, over, alive = np.random.default_rng(1), False, np.ones(3, bool)
    while not over:
        seen, _, over, truncated, info = env.step(rng.integers(0, 10, 3))
        assert not (info["alive"] & ~alive).any()
        alive = info["alive"]
        np.testing.assert_array_equal((seen == -1).all(axis=1), ~alive)
        assert not truncated
    assert not alive.any()


def test_a_crisp_tree_plays_it_row_by_row():
    env: Any = wildfire()
    leaf = np.int32(-1)
    tree = CrispTree(
        feature=np.array([0, leaf, leaf], np.int32),
        threshold=np.zeros(3),
        if_true=np.array([1, leaf, leaf], np.int32),
        if_false=np.array([2, leaf, leaf], np.int32),
        action=np.array([leaf, 0, 2], np.int32),
        feature_names=env.functional.feature_names,
        action_names=env.functional.action_names,
    )
    seen, _ = env.reset(seed=2)
    action, _ = tree.predict(seen)
    np.testing.assert_array_equal(action, np.where(seen[:, 0] > 0, 0, 2))
    env.step(action)


@pytest.mark.parametrize("make", [wildfire, zerglings])
def test_pictures(make, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = make(render_mode="rgb_array")
    with pytest.raises(gym.error.ResetNeeded):
        env.render()
    env.reset(seed=0)
    first = env.render()
    assert first.dtype == np.uint8 and first.ndim == 3 and first.shape[2] == 3
    for _ in range(3):
        env.step([0] * env.functional.n_agents)
    assert (env.render() != first).any()
    shown = make(render_mode="human")
    shown.reset(seed=0)
    shown.step([0] * shown.functional.n_agents)
    assert shown.render() is None
    shown.close()
