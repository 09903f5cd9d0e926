import gymnasium as gym
import numpy as np
import pytest
from games import GUESS, IDLE, RIGHT, STEPS, shown
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import NESTED, one_of_every_cell, tree_of

from crisptree.crisp import Actions, CrispTree
from crisptree.envs.task import task_of
from crisptree.explain import importance, reporting_seeds
from crisptree.explain.importance import frozen, without

SEEDS = reporting_seeds(50, 0)


def test_the_only_split_is_worth_what_the_worse_guess_loses():
    found = importance(RIGHT, GUESS, SEEDS)
    high = (shown(SEEDS)[:, :, 0] > 0.5).sum(axis=1)
    always_high, always_low = STEPS - high, high  # what is lost, episode by episode
    less = min((always_high, always_low), key=lambda each: each.mean())
    (split,) = found.splits
    assert split.visits == 50 * STEPS and split.goes_true == pytest.approx(high.mean() / STEPS)
    assert split.lost.mean == pytest.approx(less.mean())
    assert split.lost.standard_error == pytest.approx(less.std(ddof=1) / np.sqrt(50))
    (feature,) = found.features
    assert feature.comparisons == 1.0 and feature.lost.mean == pytest.approx(less.mean())
    assert found.mean_return == STEPS


def test_a_split_that_changes_nothing_costs_nothing():
    found = importance(IDLE, GUESS, SEEDS)
    by_name = {IDLE.feature_names[each.feature]: each for each in found.features}
    assert by_name["idle"].lost.mean == 0.0
    assert by_name["idle"].comparisons == by_name["telling"].comparisons == 0.5
    assert by_name["telling"].lost.mean > 1
    assert [IDLE.feature_names[each.feature] for each in found.features] == ["telling", "idle"]
    idle = next(split for split in found.splits if split.feature == 1)
    assert idle.lost.mean == 0.0 and found.splits[-1] == idle


def test_one_episode_has_no_standard_error():
    found = importance(RIGHT, GUESS, SEEDS[:1])
    assert found.splits[0].lost.standard_error is None
    assert "±" not in str(found.splits[0].lost)


def test_progress_is_reported():
    told = []
    importance(IDLE, GUESS, SEEDS[:2], report=lambda done, parts: told.append((done, parts)))
    assert told[-1] == (16, 16)  # two sides of three splits, and two features, twice each


def test_names_in_json():
    told = importance(IDLE, GUESS, SEEDS[:2]).to_dict(IDLE)
    assert {each["feature"] for each in told["features"]} == {"telling", "idle"}


@given(NESTED, st.data())
def test_without_a_split_the_answer_is_always_the_same(nested, data):
    tree = tree_of(nested)
    inner = np.flatnonzero(tree.feature >= 0).tolist()
    sides = {node: data.draw(st.booleans()) for node in inner if data.draw(st.booleans())}
    smaller = without(tree, sides)
    assert smaller.n_nodes <= tree.n_nodes
    for state in one_of_every_cell(tree)[:60]:
        node = 0
        while tree.feature[node] >= 0:
            feature, threshold, if_true, if_false = tree.nodes[node]
            answer = sides.get(node, bool(state[feature] > threshold))
            node = if_true if answer else if_false
        assert smaller.predict(state)[0] == tree.action[node]


TORQUE = Actions.box(("torque",), (-2.0,), (2.0,))


def test_without_keeps_formulas():
    nested = ("x", 0.0, {"torque": (0.5, {"y": -1.0})}, ("y", 0.0, [1.0], [-1.0]))
    tree = CrispTree.from_nested(nested, ("x", "y"), actions=TORQUE)
    reduced = without(tree, {0: True})
    assert reduced.n_nodes == 1 and reduced.gains == tree.gains[1:2]
    assert without(tree, {0: False, 2: True}).action.tolist() == [[1.0]]


def test_a_frozen_feature_is_its_mean_within_the_bounds():
    nested = ("x", 0.0, {"torque": (0.5, {"y": -1.0, "x": 2.0})}, {"torque": (1.5, {"y": 1.0})})
    tree = CrispTree.from_nested(nested, ("x", "y"), actions=TORQUE)
    states = np.random.default_rng(0).normal(size=(50, 2))
    at_mean = states.copy()
    at_mean[:, 1] = 3.0
    assert np.allclose(frozen(tree, 1, 3.0).act(states), tree.act(at_mean))
    assert frozen(tree, 1, 3.0).action.tolist() == [[0.0], [-2.5], [2.0]]
    assert frozen(IDLE, 0, 1.0) is IDLE


class Still(gym.Env):
    """A number that is to be brought to zero by pushing it, from a random start."""

    metadata = {"render_modes": []}  # noqa: RUF012  as gymnasium has it
    observation_space = gym.spaces.Box(-9, 9, (2,), np.float32)
    action_space = gym.spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._at, self._left = self.np_random.uniform(-1, 1), 5
        return np.array([self._at, 0], np.float32), {}

    def step(self, action):
        self._at, self._left = self._at + float(action[0]), self._left - 1
        return np.array([self._at, 0], np.float32), -abs(self._at), self._left == 0, False, {}


gym.register("Still-v0", lambda **_: Still())


def test_a_feature_that_only_a_formula_reads():
    task = task_of("Still-v0")
    name = task.feature_names[0]
    tree = CrispTree.leaf([(0.0, {name: -1.0})], **task.signature)
    found = importance(tree, task, reporting_seeds(20, 0))
    (feature,) = found.features
    assert feature.feature == 0 and feature.comparisons == 0.0 and found.splits == ()
    assert feature.lost.mean > 1  # without it, the number stays where it starts
    assert found.mean_return == pytest.approx(0.0, abs=1e-6)
