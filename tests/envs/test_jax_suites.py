"""gymnax and brax behind one adapter: the same episodes in gymnasium, side by side and compiled."""

import sys

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.envs import jax_suites
from crisptree.envs.episodes import GymnasiumEpisodes
from crisptree.envs.functional import FunctionalEnv
from crisptree.envs.play import Play
from crisptree.envs.policy import random_policy
from crisptree.envs.registry import is_in_jax, twin_of
from crisptree.envs.rollout import rollout
from crisptree.envs.task import task_of, task_of_policy

ENVS = ["gymnax:CartPole-v1", "gymnax:Pendulum-v1", "gymnax:FrozenLake-misc", "gymnax:Catch-bsuite"]


@pytest.fixture(autouse=True)
def _gymnax():
    pytest.importorskip("gymnax", reason="pip install --no-deps gymnax six")


@pytest.mark.parametrize("name", ENVS)
def test_one_episode_however_it_is_played(name):
    task = task_of(name)
    assert isinstance(twin_of(task), FunctionalEnv)
    assert is_in_jax(task)
    side_by_side = rollout([random_policy(task, 0)], task, [4], record=True, max_steps=30)
    batch = GymnasiumEpisodes(task, 1)
    alone = Play(batch, [random_policy(task, 0)], [4], 30).run()
    np.testing.assert_allclose(side_by_side.returns, alone.returns, rtol=1e-5)
    assert side_by_side.lengths.tolist() == alone.lengths.tolist()
    assert side_by_side.observations is not None
    assert side_by_side.observations.shape[1] == task.n_features


def test_a_tree_compiled_whole():
    task = task_of("gymnax:CartPole-v1")
    assert task.feature_names[2] == "pole angle"
    assert task.max_steps == 500
    tree = CrispTree.from_nested(("pole angle", 0.0, 1, 0), **task.signature)
    slow = rollout([tree], task, range(6))
    fast = rollout([tree], task, range(6), fast=True)
    assert slow.returns.tolist() == fast.returns.tolist()
    assert task_of_policy(tree).name == "gymnax:CartPole-v1"


def test_parameters_and_arguments():
    task = task_of("gymnax:CartPole-v1", {"max_steps_in_episode": 7, "gravity": 0.0})
    assert task.max_steps == 7
    always = CrispTree.leaf(0, task.feature_names, task.action_names)
    assert rollout([always], task, [0]).lengths.max() <= 7
    assert task_of("gymnax:DeepSea-bsuite", {"size": 4}).n_features == 16


def test_gymnasium_s_own_checks():
    check_env(task_of("gymnax:CartPole-v1").make(), skip_render_check=True)


@pytest.mark.parametrize(
    ("name", "kwargs", "message"),
    [
        ("gymnax:Nowhere-v0", None, "gymnax has no 'Nowhere-v0'; it has CartPole-v1,"),
        ("gymnax:CartPole-v1", {"nonsense": 1}, "'gymnax:CartPole-v1' failed in its making"),
    ],
)
def test_what_a_suite_does_not_have(name, kwargs, message):
    with pytest.raises(CrisptreeError) as caught:
        task_of(name, kwargs)
    assert message in str(caught.value)


def test_a_suite_that_is_not_installed(monkeypatch):
    jax_suites._functions.cache_clear()
    monkeypatch.setitem(sys.modules, "gymnax", None)
    with pytest.raises(CrisptreeError, match=r"pip install 'crisptree\[gymnax\]'"):
        task_of("gymnax:CartPole-v1")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_brax():
    pytest.importorskip("brax")
    task = task_of("brax:inverted_pendulum", {"backend": "spring", "episode_length": 12})
    assert (task.n_features, task.actions.kind, task.max_steps) == (4, "box", 12)
    assert (task.actions.low, task.actions.high) == ((-1.0,), (1.0,))
    played = rollout([random_policy(task, 0)], task, [0, 1])
    assert played.lengths.max() <= 12
    assert played.cut == 0
    tree = CrispTree.from_nested(("x0", 0.0, [0.3], [-0.3]), **task.signature)
    slow, fast = rollout([tree], task, [0, 1]), rollout([tree], task, [0, 1], fast=True)
    np.testing.assert_allclose(slow.returns, fast.returns, rtol=1e-5)
    with pytest.raises(CrisptreeError, match="brax has no 'car'; it has ant,"):
        task_of("brax:car")
