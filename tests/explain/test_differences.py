import itertools
import math
import sys

import numpy as np
import pytest
from games import GUESS, IDLE, RIGHT, guess
from hypothesis import given, settings
from tree_strategies import NESTED, tree_of

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import Actions, Condition, CrispTree
from crisptree.explain import Visited, compare, reporting_seeds, visited


def cells(first, second):
    """One observation for each box into which both trees' thresholds cut space."""
    values = [{math.inf} for _ in first.feature_names]
    for feature, threshold, _, _ in [*first.nodes, *second.nodes]:
        if feature >= 0:
            values[feature].add(threshold)
    return np.array(list(itertools.product(*map(sorted, values))))


@settings(max_examples=40)
@given(NESTED, NESTED)
def test_an_observation_lies_in_one_region_exactly_if_the_trees_differ(one, other):
    first, second = tree_of(one), tree_of(other)
    found = compare(first, second)
    for state in cells(first, second)[:150]:
        inside = [
            region
            for region in found.regions
            if all(condition.holds(state) for condition in region.conditions)
        ]
        actions = int(first.predict(state)[0]), int(second.predict(state)[0])
        assert len(inside) == (actions[0] != actions[1])
        assert all((each.first.action, each.second.action) == actions for each in inside)


def test_the_same_function_in_another_shape():
    assert compare(RIGHT, IDLE).regions == ()
    assert compare(RIGHT, IDLE).to_dict(RIGHT, RIGHT)["same"] is True


def test_shares_of_what_is_met():
    shifted = guess(("telling", 0.8, "high", "low"))
    seeds = reporting_seeds(40, 0)
    met = visited(RIGHT, GUESS, seeds), visited(shifted, GUESS, seeds)
    found = compare(RIGHT, shifted, met)
    column = met[0].states[:, 0]
    between = ((column > 0.5) & (column <= np.float32(0.8))).mean()
    assert found.first_share == pytest.approx(between) == found.second_share
    (region,) = found.regions
    assert region.states == round(between * len(column)) * 2
    told = found.to_dict(RIGHT, RIGHT)["regions"][0]
    assert told["conditions"] == [{"feature": "telling", "above": 0.5, "at_most": 0.8}]
    assert (told["first_action"], told["second_action"]) == ("high", "low")


def test_the_most_visited_region_comes_first():
    states = np.array([[0.9, 0], [0.95, 0], [0.1, 0]], np.float32)
    met = Visited(states, np.zeros(1))
    found = compare(guess(0), guess(("telling", 0.5, 1, 1)), (met, met))
    assert [region.states for region in found.regions] == sorted(
        (region.states for region in found.regions), reverse=True
    )


def test_other_shapes_do_not_compare():
    with pytest.raises(CrisptreeError, match="the policies have 2 and 1 features"):
        compare(RIGHT, CrispTree.leaf(0, ("a",), ("x", "y")))
    with pytest.raises(CrisptreeError, match="the policies have 2 and 3 actions"):
        compare(RIGHT, CrispTree.leaf(0, ("a", "b"), ("x", "y", "z")))
    with pytest.raises(CrisptreeError, match="the policies have discrete and box actions"):
        compare(RIGHT, CrispTree.leaf([0.0], ("a", "b"), actions=TORQUE))


TORQUE = Actions.box(("torque",), (-2.0,), (2.0,))


def torque(nested) -> CrispTree:
    return CrispTree.from_nested(nested, ("x", "y"), actions=TORQUE)


def test_real_numbers_and_how_far_they_are_apart():
    first = torque(("x", 0.0, [1.0], [-1.0]))
    second = torque(("x", 0.5, [1.0], [-0.5]))
    states = np.array([[-1.0, 0], [0.25, 0], [1.0, 0], [2.0, 0]], np.float32)
    met = Visited(states, np.zeros(1))
    found = compare(first, second, (met, met))
    assert found.first_share == 0.5 and found.first_apart == ((0.5 + 1.5) / 4,)
    by_action = {each.first.action: each for each in found.regions}
    assert by_action[(1.0,)].conditions == (Condition(0, 0.0, 0.5),)
    assert by_action[(1.0,)].apart == (1.5,) and by_action[(-1.0,)].apart == (0.5,)
    assert by_action[(1.0,)].states == 2


def test_linear_leaves_differ_where_their_formulas_do():
    first = torque(("x", 0.0, [(0.0, {"y": -1.0})], [0.0]))
    second = torque(("x", 0.0, [(0.0, {"y": -1.5})], [0.0]))
    (region,) = compare(first, second).regions
    assert region.conditions == (Condition(0, above=0.0),) and region.apart == ()
    told = compare(first, second).to_dict(first, second)["regions"][0]
    assert told["first_action"] == {"torque": {"constant": 0.0, "gains": {"y": -1.0}}}
    assert compare(first, torque(("x", 0.0, [(0.0, {"y": -1.0})], [0.0]))).regions == ()


def test_several_choices():
    car = Actions.multi_discrete(("steer", "brake"), (("left", "right"), ("off", "on")))
    tree = lambda nested: CrispTree.from_nested(nested, ("x",), actions=car)
    first = tree(("x", 0.0, ["left", "off"], ["right", "off"]))
    second = tree(("x", 0.0, ["left", "off"], ["right", "on"]))
    states = np.array([[-1.0], [1.0], [2.0], [3.0]], np.float32)
    met = Visited(states, np.zeros(1))
    found = compare(first, second, (met, met))
    assert found.first_share == 0.25 and found.first_apart == ()
    told = found.to_dict(first, second)["regions"][0]
    assert told["first_action"] == {"steer": "right", "brake": "off"}
    assert told["second_action"] == {"steer": "right", "brake": "on"}


def test_too_large_to_compare(monkeypatch):
    monkeypatch.setattr(sys.modules["crisptree.explain.differences"], "MOST_WORK", 3)
    with pytest.raises(CrisptreeError, match="too large to compare"):
        compare(RIGHT, guess(("idle", 0.5, "high", "low")))
