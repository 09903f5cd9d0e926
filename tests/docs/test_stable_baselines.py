"""A crisp tree where Stable-Baselines3 expects a model, and its models where we expect a teacher.

Where the package is installed its own functions are called; elsewhere the loop below, which asks
for the same in the same order.
"""

import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest

from crisptree.crisp import CrispTree
from crisptree.envs.task import task_of
from crisptree.pipeline.teachers import external_teacher

POLICIES = Path(__file__).parents[2] / "policies"


def evaluate_alike(policy, env, n_episodes):
    """Batches of observations, a mask of starts, actions for a vector of environments."""
    returns, current = [], np.zeros(env.num_envs)
    observations, _ = env.reset(seed=0)
    states, starts = None, np.ones(env.num_envs, bool)
    while len(returns) < n_episodes:
        actions, states = policy.predict(
            observations, state=states, episode_start=starts, deterministic=True
        )
        assert actions.shape == (env.num_envs,) and actions.dtype == np.int64
        observations, rewards, terminated, truncated, _ = env.step(actions)
        current += rewards
        returns += current[terminated | truncated].tolist()
        starts = terminated | truncated
        current[starts] = 0
    return np.mean(returns), np.std(returns)


def evaluated(policy, env_id, n_envs, n_episodes):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from stable_baselines3.common.env_util import make_vec_env  # pyright: ignore[reportMissingImports]
            from stable_baselines3.common.evaluation import evaluate_policy  # pyright: ignore[reportMissingImports]
    except ImportError:
        envs = gym.make_vec(env_id, n_envs, vectorization_mode="sync")
        return evaluate_alike(policy, envs, n_episodes)
    envs = make_vec_env(env_id, n_envs=n_envs, seed=0)
    return evaluate_policy(policy, envs, n_eval_episodes=n_episodes, deterministic=True)


@pytest.mark.parametrize("n_envs", [1, 3])
def test_a_crisp_tree_is_evaluated_like_a_model(n_envs):
    tree = CrispTree.load(POLICIES / "cartpole-list-3.json")
    mean, spread = evaluated(tree, "CartPole-v1", n_envs, 3)
    assert (mean, spread) == (500.0, 0.0)


def test_a_bad_tree_is_told_from_a_good_one():
    one = CrispTree.from_nested((0, 0.0, 0, 0), ("a", "b", "c", "d"), ("left", "right"))
    mean, _ = evaluated(one.simplify(), "CartPole-v1", 2, 4)
    assert 8 <= mean <= 11


class Sampling:
    """A model that gives its best action only if it is asked for it, as theirs do."""

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        right = np.asarray(observation)[:, 2] > 0
        return (right if deterministic else ~right).astype(np.int64), state


def saved_model(path, monkeypatch):
    """A model, saved as Stable-Baselines3 saves it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from stable_baselines3 import PPO  # pyright: ignore[reportMissingImports]
    except ImportError:
        model = Sampling()
        knows = SimpleNamespace(load=lambda path, device: model)
        names = ("PPO", "DQN", "A2C", "SAC", "TD3")
        fake = SimpleNamespace(**dict.fromkeys(names, knows))
        monkeypatch.setitem(sys.modules, "stable_baselines3", fake)
        path.touch()
        return model
    model = PPO("MlpPolicy", "CartPole-v1", seed=0, device="cpu")
    model.save(path)
    return model


def test_a_saved_model_teaches_its_best_actions(tmp_path, monkeypatch):
    path = tmp_path / "model.zip"
    model = saved_model(path, monkeypatch)
    states = np.random.default_rng(0).normal(0, 0.5, (500, 4)).astype(np.float32)
    teacher = external_teacher(str(path), task_of("CartPole-v1"))
    best, _ = model.predict(states, deterministic=True)
    assert np.array_equal(teacher.act(states), best)
    assert not np.array_equal(model.predict(states)[0], best)
