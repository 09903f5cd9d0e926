from typing import Any

import numpy as np
import pytest

from crisptree.envs.task import task_of
from crisptree.envs.transition_table import has_transition_table, transition_table


@pytest.mark.parametrize(
    ("env_id", "states"), [("FrozenLake-v1", 16), ("CliffWalking-v1", 48), ("Taxi-v4", 500)]
)
def test_toy_text_carries_its_model(env_id, states):
    task = task_of(env_id)
    table = transition_table(task)
    assert table is not None
    assert table.probability.shape[:2] == (states, task.n_actions)
    np.testing.assert_allclose(table.probability.sum(-1), 1.0)
    assert table.observations.shape == (states, task.n_features)


def test_the_rows_are_the_environment_s():
    table = transition_table(task_of("FrozenLake-v1"))
    env: Any = task_of("FrozenLake-v1").make().unwrapped
    model = env.P
    assert table is not None
    for k, (chance, to, reward, over) in enumerate(model[14][2]):
        at = 14, 2, k
        assert (table.probability[at], table.next_state[at]) == (chance, to)
        assert (table.reward[at], table.terminated[at]) == (reward, over)


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Blackjack-v1", "Pendulum-v1"])
def test_others_do_not(env_id):
    assert not has_transition_table(task_of(env_id))


def test_a_user_s_features_of_the_states():
    task = task_of("FrozenLake-v1", features=lambda cell: {"row": cell // 4, "column": cell % 4})
    table = transition_table(task)
    assert table is not None
    assert table.observations[6].tolist() == [1, 2]


def test_an_environment_that_says_what_its_states_look_like():
    table = transition_table(task_of("crisptree/FrozenLake4x4-v0"))
    assert table is not None
    assert sorted(map(tuple, table.observations.tolist())) == [
        (row, column) for row in range(4) for column in range(4)
    ]
