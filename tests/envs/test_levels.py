"""Real actions as choices among a few values."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import crisptree.envs.process_envs as process_envs
from crisptree.crisp import CrispTree
from crisptree.crisp.signature import Actions
from crisptree.crispen.level_choices import with_values
from crisptree.envs.envpool_envs import EnvpoolEnvs, envpool_has
from crisptree.envs.gymnasium_envs import GymnasiumEnvs
from crisptree.envs.levels import Levels
from crisptree.envs.registry import twin_of
from crisptree.envs.rollout import rollout
from crisptree.envs.task import Task, task_of

REAL = Actions.box(("push", "turn"), (-1.0, 0.0), (1.0, 10.0))


def on_levels(task: Task, count: int) -> Task:
    levels = Levels(task.actions, count)
    return replace(task, actions=levels.choices, levels=levels)


def test_levels_are_evenly_spaced_between_the_bounds():
    levels = Levels(REAL, 5)
    assert levels.table.tolist() == [[-1.0, -0.5, 0.0, 0.5, 1.0], [0.0, 2.5, 5.0, 7.5, 10.0]]
    assert levels.choices.names == ("push", "turn")
    assert levels.choices.choices[1] == ("0", "2.5", "5", "7.5", "10")


def test_choices_and_values_belong_together():
    levels = Levels(REAL, 3)
    every = np.array([[i, j] for i in range(3) for j in range(3)])
    assert (levels.nearest(levels.values(every)) == every).all()
    assert levels.nearest(np.array([[0.4, 2.4], [0.6, 9.0]])).tolist() == [[1, 0], [2, 2]]


@pytest.mark.parametrize("make", [GymnasiumEnvs, EnvpoolEnvs])
def test_vector_environments_get_real_actions(make):
    """The same episode by choices as by the values they stand for."""
    plain = task_of("Pendulum-v1")
    if make is EnvpoolEnvs and not envpool_has(plain):
        pytest.skip("envpool is not installed")
    task = on_levels(plain, 5)
    assert envpool_has(task) == envpool_has(plain)
    chosen, real = make(task, 3), make(plain, 3)
    assert task.levels is not None
    assert np.array_equal(chosen.reset(7), real.reset(7))
    for choice in (0, 4, 3, 1, 2):
        action = np.full((3, 1), choice)
        one = chosen.step(action)
        other = real.step(task.levels.values(action))
        assert np.array_equal(one.observation, other.observation)
        assert np.array_equal(one.reward, other.reward)
    chosen.close()
    real.close()


def test_environments_in_processes_get_real_actions():
    plain = task_of("Pendulum-v1")
    task = on_levels(plain, 3)
    apart, here = process_envs.ProcessEnvs(task, 4, 2), GymnasiumEnvs(task, 4)
    assert np.array_equal(apart.reset(3), here.reset(3))
    for choice in (2, 0, 1):
        action = np.full((4, 1), choice)
        one, other = apart.step(action), here.step(action)
        assert np.allclose(one.observation, other.observation)
        assert np.allclose(one.reward, other.reward)
    apart.close()


def test_a_twin_of_a_suite_gets_real_actions():
    """Values are looked up where the step is compiled."""
    pytest.importorskip("gymnax", reason="gymnax is not installed")
    plain = task_of("gymnax:Pendulum-v1")
    task = on_levels(plain, 5)
    chosen, real = twin_of(task), twin_of(plain)
    assert chosen is not None and real is not None and task.levels is not None
    key = jax.random.key(0)
    state, _ = real.reset(key)
    for choice in range(5):
        action = np.array([choice])
        one = chosen.step(key, state, jnp.asarray(action))
        other = real.step(key, state, jnp.asarray(task.levels.values(action[None])[0]))
        assert float(one.reward) == float(other.reward)
        assert np.array_equal(one.observation, other.observation)


@pytest.mark.parametrize("env_id", ["gymnax:Pendulum-v1", "gymnax:Reacher-misc"])
@pytest.mark.parametrize("n_trees", [1, 3], ids=["one tree", "several"])
def test_trees_that_choose_among_levels_play_in_a_suite(env_id, n_trees):
    """They earn what trees with these values do."""
    pytest.importorskip("gymnax", reason="gymnax is not installed")
    plain = task_of(env_id)
    task = on_levels(plain, 3)
    assert task.levels is not None
    low, high = np.zeros(plain.n_actions, int), np.full(plain.n_actions, 2)
    nested = (0, 0.1, low.tolist(), high.tolist())
    choosing = CrispTree.from_nested(nested, **task.signature)
    acting = with_values(choosing, task.levels)
    one = rollout(n_trees * [choosing], task, range(4), fast=True, max_steps=20)
    other = rollout(n_trees * [acting], plain, range(4), fast=True, max_steps=20)
    assert one.returns == pytest.approx(other.returns, rel=1e-5)


def test_other_twins_take_no_levels():
    assert twin_of(task_of("CartPole-v1")) is not None
    assert twin_of(on_levels(task_of("Pendulum-v1"), 3)) is None
