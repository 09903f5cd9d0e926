import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import NESTED, tree_of

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import Actions, CrispTree, Feature
from crisptree.explain import counterfactuals

VALUES = st.lists(st.floats(-3, 3, width=32), min_size=3, max_size=3)
SCALES = st.lists(st.sampled_from([0.5, 1.0, 4.0]), min_size=3, max_size=3)


@given(NESTED, VALUES, SCALES)
def test_it_is_the_nearest_of_all(nested, values, scales):
    """Against trying, feature by feature, the value itself and every threshold's two sides."""
    tree = tree_of(nested)
    at, scale = np.array(values), np.array(scales)
    candidates = [{float(value)} for value in at]
    for feature, threshold, _, _ in tree.nodes:
        if feature >= 0 and abs(threshold) < 1e30:
            near = np.float32(threshold)
            low = near if float(near) <= threshold else np.nextafter(near, np.float32(-np.inf))
            candidates[feature] |= {float(low), float(np.nextafter(low, np.float32(np.inf)))}
    grid = np.stack(np.meshgrid(*map(sorted, candidates), indexing="ij"), -1).reshape(-1, 3)
    actions = tree.predict(grid)[0]
    distances = np.sqrt((((grid - at) / scale) ** 2).sum(axis=1))
    taken = tree.predict(at)[0]
    found = {tree.action_of(each.leaf): each for each in counterfactuals(tree, at, scale)}
    for action in set(actions.tolist()) - {int(taken)}:
        assert found[action].distance == pytest.approx(distances[actions == action].min())
    for action, change in found.items():
        assert action == tree.predict(np.array(change.observation))[0] != taken
        moved = np.flatnonzero(np.array(change.observation) != at)
        assert change.features == tuple(moved.tolist())
    in_order = [each.distance for each in counterfactuals(tree, at, scale)]
    assert in_order == sorted(in_order)


TREE = CrispTree.from_nested(
    ("a", 0.1, ("b", 5.0, "stay", "right"), "left"), ("a", "b"), ("left", "right", "stay", "never")
)


def test_just_beyond_the_threshold_in_the_environments_floats():
    first, second = counterfactuals(TREE, np.array([0.0, 0.0]))
    assert (TREE.action_of(first.leaf), first.features) == (1, (0,))
    assert first.observation[0] == float(np.float32(0.1)) > 0.1
    assert (TREE.action_of(second.leaf), second.features) == (2, (0, 1))


def test_the_scale_decides_what_is_near():
    at = np.array([0.2, 4.9])
    nearest = lambda scale: TREE.action_of(counterfactuals(TREE, at, np.array(scale))[0].leaf)
    assert nearest([1.0, 1.0]) == 0 or nearest([1.0, 1.0]) == 2
    assert nearest([1.0, 100.0]) == 2 and nearest([100.0, 1.0]) == 0


def test_a_tree_with_one_action_has_none():
    assert counterfactuals(CrispTree.leaf(0, ("a",), ("x", "y")), np.zeros(1)) == ()


@pytest.mark.parametrize(
    ("observation", "scale", "message"),
    [
        (np.zeros(3), None, "an observation has 2 numbers"),
        (np.zeros(2), np.zeros(2), "2 numbers above zero"),
        (np.zeros(2), np.ones(3), "2 numbers above zero"),
    ],
)
def test_wrong_shapes(observation, scale, message):
    with pytest.raises(CrisptreeError, match=message):
        counterfactuals(TREE, observation, scale)


KINDS = (
    Feature("contact", "flag"),
    Feature("row", "category", 0.0, 7.0),
    Feature("height"),
)


def of_kinds(nested) -> CrispTree:
    return CrispTree.from_nested(nested, features=KINDS, action_names=("a", "b"))


@pytest.mark.parametrize(
    ("nested", "at", "feature", "value"),
    [
        (("contact", 0.456, 1, 0), [0.0, 0.0, 0.0], 0, 1.0),
        (("contact", 0.456, 1, 0), [1.0, 0.0, 0.0], 0, 0.0),
        (("row", 2.5, 1, 0), [0.0, 1.0, 0.0], 1, 3.0),
        (("row", 2.5, 1, 0), [0.0, 6.0, 0.0], 1, 2.0),
        (("row", 2.0, 1, 0), [0.0, 6.0, 0.0], 1, 2.0),
    ],
)
def test_flags_become_yes_or_no_and_categories_stay_whole(nested, at, feature, value):
    (change,) = counterfactuals(of_kinds(nested), np.array(at))
    assert change.features == (feature,) and change.observation[feature] == value


def test_what_no_flag_can_be_is_no_change():
    assert counterfactuals(of_kinds(("contact", 1.5, 1, 0)), np.zeros(3)) == ()
    assert counterfactuals(of_kinds(("row", 2.1, ("row", 2.9, 0, 1), 0)), np.zeros(3)) == ()


def test_real_numbers_and_formulas():
    torque = Actions.box(("torque",), (-2.0,), (2.0,))
    linear = {"torque": (0.0, {"y": -1.0})}
    nested = ("x", 0.0, ("x", 1.0, linear, [1.0]), ("x", -1.0, [1.0], linear))
    tree = CrispTree.from_nested(nested, ("x", "y"), actions=torque)
    (change,) = counterfactuals(tree, np.array([0.5, 0.0]))  # to a formula, on either side
    assert tree.gains[change.leaf] and change.observation == (
        pytest.approx(1.0, abs=1e-6),
        0.0,
    )
    (back,) = counterfactuals(tree, np.array([1.5, 0.0]))
    assert tree.action_of(back.leaf) == (1.0,) and back.observation == (1.0, 0.0)


def test_several_choices():
    car = Actions.multi_discrete(("steer", "brake"), (("left", "right"), ("off", "on")))
    nested = ("x", 0.0, ["left", "off"], ("x", -1.0, ["right", "on"], ["left", "on"]))
    tree = CrispTree.from_nested(nested, ("x",), actions=car)
    found = [tree.action_of(change.leaf) for change in counterfactuals(tree, np.array([1.0]))]
    assert found == [(1, 1), (0, 1)]
