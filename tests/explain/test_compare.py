import sys

import numpy as np
import pytest
from games import IDLE, RIGHT, guess
from hypothesis import given, settings
from tree_strategies import NESTED, one_of_every_cell, tree_of

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.explain import Visited, compare, reporting_seeds, visited


def cells(first, second):
    """One observation for each box into which both trees' thresholds cut space."""
    both = CrispTree(
        **{
            name: np.concatenate([[value], getattr(first, name), getattr(second, name)])
            for name, value in (("feature", 0), ("threshold", 0.0), ("action", -1))
        },
        if_true=_children(first, second, "if_true", 1),
        if_false=_children(first, second, "if_false", 1 + first.n_nodes),
        feature_names=first.feature_names,
        action_names=first.action_names,
    )
    return one_of_every_cell(both)


def _children(first, second, name, root):
    shifted = [
        np.where(getattr(tree, name) < 0, -1, getattr(tree, name) + start)
        for tree, start in ((first, 1), (second, 1 + first.n_nodes))
    ]
    return np.concatenate([[root], *shifted])


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
        assert all((each.first_action, each.second_action) == actions for each in inside)


def test_the_same_function_in_another_shape():
    assert compare(RIGHT, IDLE).regions == ()
    assert compare(RIGHT, IDLE).to_dict(RIGHT)["same"] is True


def test_shares_of_what_is_met():
    shifted = guess(("telling", 0.8, "high", "low"))
    seeds = reporting_seeds(RIGHT, "Guess-v0", 40, 0)
    met = visited(RIGHT, "Guess-v0", seeds), visited(shifted, "Guess-v0", seeds)
    found = compare(RIGHT, shifted, met)
    column = met[0].states[:, 0]
    between = ((column > 0.5) & (column <= np.float32(0.8))).mean()
    assert found.first_share == pytest.approx(between) == found.second_share
    (region,) = found.regions
    assert region.states == round(between * len(column)) * 2
    told = found.to_dict(RIGHT)["regions"][0]
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


def test_too_large_to_compare(monkeypatch):
    monkeypatch.setattr(sys.modules["crisptree.explain.compare"], "MOST_WORK", 3)
    with pytest.raises(CrisptreeError, match="too large to compare"):
        compare(RIGHT, guess(("idle", 0.5, "high", "low")))
