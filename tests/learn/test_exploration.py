"""Models that are learned by trying every action in every state."""

import gymnasium as gym
import numpy as np
import pytest

from crisptree.envs.task import task_of
from crisptree.envs.transition_table import transition_table
from crisptree.learn.exact_model import exact_model
from crisptree.learn.exploration import explore, practised
from crisptree.learn.value_iteration import best_policy


class Corridor(gym.Env):
    """Only the last of 24 cells pays; a wrong action leads back to the first one. What is right
    alternates, so that random play gets there once in 2^23 episodes."""

    observation_space = gym.spaces.Discrete(24)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cell = 0
        return self.cell, {}

    def step(self, action):
        self.cell = self.cell + 1 if action == self.cell % 3 // 2 else 0
        is_there = self.cell == 23
        return self.cell, float(is_there), is_there, False, {}


class Counter(gym.Env):
    """No observation is seen twice."""

    observation_space = gym.spaces.Box(0, np.inf, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)
    total = 0

    def reset(self, *, seed=None, options=None):
        return self.step(0)[0], {}

    def step(self, action):
        Counter.total += 1
        return np.array([Counter.total], np.float32), 0.0, False, False, {}


class Tunnel(gym.Env):
    """Two ways lead to a door that looks the same from both: who came by the left finds it open."""

    observation_space = gym.spaces.Discrete(3)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.way = None
        return 0, {}

    def step(self, action):
        if self.way is None:
            self.way = int(action)
            return 1, 0.0, False, False, {}
        return 2, float(self.way == 0), True, False, {}


@pytest.mark.parametrize("env_id", ["FrozenLake-v1", "crisptree/FrozenLake4x4-v0"])
def test_chances_are_those_of_the_environment(env_id):
    task = task_of(env_id)
    true, found = transition_table(task), explore(task, 16, 20_000, seed=0)
    assert true is not None and found is not None
    number = {row.tobytes(): i for i, row in enumerate(true.observations)}
    states = [number[row.tobytes()] for row in found.table.observations]
    assert true.observations[states[int(found.start.argmax())]].tolist() == [
        *true.observations[0].tolist()
    ]
    tried = 0
    for ours, theirs in enumerate(states):
        for action in range(4):
            paid = found.table.probability[ours, action] @ found.table.reward[ours, action]
            expected = true.probability[theirs, action] @ true.reward[theirs, action]
            tried += abs(paid - expected) < 0.15
    assert tried >= 4 * len(states) - 2


def test_its_best_policy_is_nearly_the_best():
    task = task_of("FrozenLake-v1")
    model, found = exact_model(task), explore(task, 16, 30_000, seed=1)
    assert model is not None and found is not None
    policy = best_policy(found.table, found.start, 100)
    known = {row.tobytes() for row in found.table.observations}
    seen = [row.tobytes() in known for row in model.observations]
    actions = np.zeros(model.n_states, int)
    actions[seen] = policy.act(model.observations[seen])
    assert model.mean_of(actions) > 0.72  # the best policy earns 0.7402


def test_what_random_play_never_reaches():
    found = explore(task_of(Corridor), 16, 30_000, seed=0)
    assert found is not None and found.steps < 30_000  # nothing is left to chance
    policy = best_policy(found.table, found.start, 100)
    rows = found.table.observations
    assert len(rows) == 24
    cells = np.array([int(row.argmax()) if len(row) > 1 else int(row[0]) for row in rows])
    inside = cells < 23
    assert policy.act(rows[inside]).tolist() == (cells[inside] % 3 // 2).tolist()


def test_too_much_for_a_table():
    assert explore(task_of(Counter), 4, 10_000, seed=0, most_outcomes=2_000) is None


def test_the_same_seed_finds_the_same():
    task = task_of("FrozenLake-v1")
    one, other = (explore(task, 4, 2_000, seed=5) for _ in range(2))
    assert one is not None and other is not None
    np.testing.assert_array_equal(one.table.probability, other.table.probability)


def chance_to_be_paid(explored, observation):
    """What the door pays, by the model."""
    at = np.flatnonzero((explored.table.observations == observation).all(1))[0]
    return float((explored.table.probability[at] * explored.table.reward[at]).sum(-1).mean())


def test_practice_tells_what_follows_on_ones_own_way():
    task = task_of(Tunnel)
    at_the_door = task.observe_batch([1])[0]
    explored = explore(task, 8, 4_000, seed=0)
    assert explored is not None
    assert chance_to_be_paid(explored, at_the_door) == pytest.approx(0.5, abs=0.25)
    for way, paid in ((0, 0.925), (1, 0.075)):  # 15 of 100 actions are random, half of them its own
        act = lambda rows, way=way: np.full(len(rows), way)
        after = practised(explored, act, task, 8, 4_000, seed=1)
        assert chance_to_be_paid(after, at_the_door) == pytest.approx(paid, abs=0.04)
        assert after.steps >= explored.steps + 4_000
        np.testing.assert_allclose(after.table.probability.sum(-1), 1.0)
        np.testing.assert_allclose(after.start.sum(), 1.0)


def test_practice_changes_nothing_where_observations_tell_all():
    task = task_of(Corridor)
    explored = explore(task, 8, 4_000, seed=0)
    assert explored is not None
    after = practised(explored, lambda rows: np.zeros(len(rows), int), task, 8, 500, seed=1)
    tried = explored.table.probability.shape[0]
    np.testing.assert_array_equal(after.table.probability[:tried], explored.table.probability)
    np.testing.assert_array_equal(after.table.next_state[:tried], explored.table.next_state)


def test_it_goes_on_until_every_action_was_tried():
    task = task_of(Corridor)
    short = explore(task, 4, 40, seed=0)
    whole = explore(task, 4, 40, seed=0, tries=1)
    late = explore(task, 4, 40, seed=0, is_late=iter([False] * 10 + [True]).__next__, tries=1)
    assert short is not None and whole is not None and late is not None
    assert len(short.start) < 24 == len(whole.start)
    assert late.steps == 40
