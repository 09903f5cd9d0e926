"""Exact returns, against the plain recursion and against episodes."""

import numpy as np
import pytest

from crisptree.envs.policy import FunctionPolicy
from crisptree.envs.rollout import rollout
from crisptree.envs.task import task_of
from crisptree.envs.transition_table import TransitionTable, transition_table
from crisptree.learn import exact_model as module
from crisptree.learn.exact_model import ExactModel, exact_model, start_distribution
from crisptree.learn.value_iteration import solve

ENVS = ["FrozenLake-v1", "CliffWalking-v1", "Taxi-v4", "crisptree/Navigation3D-v0"]


def plain_returns(table: TransitionTable, actions: np.ndarray, horizon: int) -> np.ndarray:
    """The mean return from each state, one step of the recursion after the other."""
    value, states = np.zeros(len(actions)), np.arange(len(actions))
    outcomes = [part[states, actions] for part in table[:4]]
    probability, next_state, reward, terminated = outcomes
    for _ in range(horizon):
        value = (probability * (reward + ~terminated * value[next_state])).sum(-1)
    return value


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize("per_flop", [0.0, 1.0])
def test_both_ways_to_add_up_agree_with_the_recursion(env, per_flop, monkeypatch):
    monkeypatch.setattr(module, "PER_FLOP", per_flop)
    task = task_of(env)
    model, table = exact_model(task), transition_table(task)
    assert model is not None and table is not None
    actions = np.random.default_rng(0).integers(model.n_actions, size=model.n_states)
    plain = plain_returns(table, actions, model.horizon)
    np.testing.assert_allclose(model.values(actions), plain, rtol=1e-9, atol=1e-9)
    start = start_distribution(task, table)
    assert model.mean_of(actions) == pytest.approx(float(start @ plain))


def test_returns_by_hand():
    """State 0 pays 1 and goes to itself or, with chance ½, to the end."""
    table = TransitionTable(
        probability=np.array([[[0.5, 0.5]]]),
        next_state=np.zeros((1, 1, 2), int),
        reward=np.ones((1, 1, 2)),
        terminated=np.array([[[False, True]]]),
        observations=np.zeros((1, 1), np.float32),
    )
    models = [ExactModel(table, np.ones(1), horizon) for horizon in (1, 2, 3, 100)]
    returns = [model.mean_of(np.zeros(1, int)) for model in models]
    assert returns == pytest.approx([1, 1.5, 1.75, 2])


@pytest.mark.parametrize("horizon", [1, 2, 3, 7, 8, 100])
def test_visits_count_steps(horizon):
    task = task_of("FrozenLake-v1")
    model = exact_model(task)
    assert model is not None
    actions = np.full(model.n_states, 2)
    table = transition_table(task)
    assert table is not None
    model = ExactModel(table, model.start, horizon)
    paid = model.paid[np.arange(model.n_states), actions]
    assert model.visits(actions) @ paid == pytest.approx(model.start @ model.values(actions))
    assert model.visits(actions).sum() <= horizon + 1e-9


def test_episodes_earn_as_much():
    task = task_of("FrozenLake-v1")
    model, teacher = exact_model(task), solve(task)
    assert model is not None
    returns = rollout([FunctionPolicy(teacher.act)], task, range(2000)).returns[0]
    error = returns.std() / np.sqrt(len(returns))
    assert abs(returns.mean() - model.mean_return(teacher)) < 4 * error


def test_what_needs_no_learning():
    model = exact_model(task_of("crisptree/Xor-v0"))
    assert model is not None
    found = model.baselines()
    assert found.random_return == pytest.approx(0.0, abs=1e-9)
    assert found.constant_return == max(model.mean_of(np.full(model.n_states, a)) for a in (0, 1))
    # Of the published figure for random play.
    lake = exact_model(task_of("crisptree/FrozenLake4x4-v0"))
    assert lake is not None and lake.baselines().random_return == pytest.approx(0.0124, abs=1e-4)


def test_no_model_without_a_table():
    assert exact_model(task_of("CartPole-v1")) is None
