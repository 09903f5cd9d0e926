import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_strategies import NESTED, tree_of

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
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
    found = {each.action: each for each in counterfactuals(tree, at, scale)}
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
    assert (first.action, first.features) == (1, (0,))
    assert first.observation[0] == float(np.float32(0.1)) > 0.1
    assert (second.action, second.features) == (2, (0, 1))


def test_the_scale_decides_what_is_near():
    at = np.array([0.2, 4.9])
    nearest = lambda scale: counterfactuals(TREE, at, np.array(scale))[0].action
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
