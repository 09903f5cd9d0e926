import itertools

import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.envs.task import task_of
from crisptree.envs.transition_table import TransitionTable
from crisptree.learn.exact_model import exact_model
from crisptree.learn.value_iteration import ExactPolicy, solve, value_iteration

RNG = np.random.default_rng(0)


def random_table(n_states: int = 4, n_actions: int = 2) -> TransitionTable:
    """Two outcomes of every action, some of them the end."""
    shape = (n_states, n_actions, 2)
    chance = RNG.uniform(size=shape[:2])
    return TransitionTable(
        probability=np.stack([chance, 1 - chance], -1),
        next_state=RNG.integers(n_states, size=shape),
        reward=RNG.normal(size=shape),
        terminated=RNG.uniform(size=shape) < 0.3,
        observations=np.arange(n_states, dtype=np.float32)[:, None],
    )


def discounted_values(table: TransitionTable, actions: np.ndarray, gamma: float) -> np.ndarray:
    """Of a fixed policy, by solving the linear system."""
    n = len(actions)
    moves, paid = np.zeros((n, n)), np.zeros(n)
    for state, action in enumerate(actions):
        at = state, action
        paid[state] = table.probability[at] @ table.reward[at]
        goes_on = table.probability[at] * ~table.terminated[at]
        np.add.at(moves[state], table.next_state[at], goes_on)
    return np.linalg.solve(np.eye(n) - gamma * moves, paid)


@pytest.mark.parametrize("gamma", [0.5, 0.99])
def test_no_policy_is_better_than_the_greedy_one(gamma):
    """Against all policies there are."""
    table = random_table()
    q = value_iteration(table, gamma)
    every = [
        discounted_values(table, np.array(policy), gamma)
        for policy in itertools.product(range(2), repeat=4)
    ]
    np.testing.assert_allclose(q.max(1), np.max(every, 0), rtol=1e-6, atol=1e-6)
    best = discounted_values(table, q.argmax(1), gamma)
    np.testing.assert_allclose(q.max(1), best, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("env_id", "kwargs", "expected"),
    [
        ("CliffWalking-v1", {}, -13.0),
        ("FrozenLake-v1", {"is_slippery": False}, 1.0),
        ("FrozenLake-v1", {}, 0.740),
    ],
)
def test_gymnasium_s_toy_text(env_id, kwargs, expected):
    """The best that a policy without a clock earns within the time limit, exactly."""
    task = task_of(env_id, kwargs)
    model = exact_model(task)
    assert model is not None
    assert model.mean_return(solve(task)) == pytest.approx(expected, abs=1e-3)


def test_what_a_wrong_action_costs():
    policy = ExactPolicy(
        np.array([[1.0, 3.0, -2.0], [0.0, 0.0, 0.0]]), np.array([[7], [8]], np.float32)
    )
    rows = np.array([[8], [7], [7]], np.float32)
    assert policy.act(rows).tolist() == [0, 1, 1]
    assert policy.regrets(rows)[1].tolist() == [2, 0, 5]
    assert policy.regret(rows).tolist() == [0, 5, 5]


def test_states_with_the_same_features_are_averaged():
    q = np.array([[1.0, 0.0], [0.0, 5.0], [3.0, 1.0]])
    policy = ExactPolicy(q, np.array([[1], [1], [2]], np.float32))
    assert policy.q_values(np.array([[1], [2]], np.float32)).tolist() == [[0.5, 2.5], [3, 1]]


def test_an_observation_that_is_no_state():
    policy = ExactPolicy(np.zeros((2, 2)), np.array([[0], [1]], np.float32))
    with pytest.raises(CrisptreeError, match=r"the observation \[2.0\] is no state"):
        policy.act(np.array([[2]], np.float32))


def test_an_environment_without_a_table():
    with pytest.raises(CrisptreeError, match="'CartPole-v1' carries no transition table"):
        solve(task_of("CartPole-v1"))


@pytest.mark.parametrize("gamma", [0.0, 1.0, float("nan")])
def test_discounts_that_do_not_converge(gamma):
    with pytest.raises(CrisptreeError, match="gamma must be above 0 and below 1"):
        value_iteration(random_table(), gamma)
