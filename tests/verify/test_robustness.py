"""How firmly a tree decides, against trying many observations."""

import numpy as np
import pytest
from verify_trees import CART_POLE, STEADY, grown

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import Actions, CrispTree
from crisptree.verify.robustness import along, coverage, leaf_facts, nearest_flip, numbers_of, radii

TORQUE = CrispTree.from_nested(
    ("a", 0.0, {"torque": (0.5, {"b": -1.0})}, [-0.5]),
    ("a", "b"),
    actions=Actions.box(("torque",), (-2.0,), (2.0,), dtype="float64"),
)


def test_no_observation_within_the_radius_gets_another_action():
    tree, rng = grown(24, 3, n_features=3), np.random.default_rng(0)
    points = rng.normal(size=(40, 3))
    for point, radius in zip(points, radii(tree, points), strict=True):
        near = point + rng.uniform(-1, 1, (400, 3)) * radius * 0.999
        assert (tree.act(near) == tree.act(point[None])).all()


def test_the_least_change_flips_the_action():
    tree, rng = grown(24, 3, n_features=3), np.random.default_rng(1)
    for point in rng.normal(size=(20, 3)):
        flip = nearest_flip(tree, point.tolist())
        assert flip.radius == pytest.approx(radii(tree, point)[0])
        moved = point.copy()
        for name, value in flip.changes.items():
            moved[tree.feature_names.index(name)] = value
        assert int(tree.act(moved[None])[0]) != int(tree.act(point[None])[0])
        assert np.abs(moved - point).max() == pytest.approx(flip.radius)


def test_one_leaf_never_flips():
    flip = nearest_flip(CrispTree.leaf(0, ("x",), ("a", "b")), [1.0])
    assert (
        flip.radius is None and radii(CrispTree.leaf(0, ("x",), ("a", "b")), np.zeros(1)) == np.inf
    )


def test_a_real_action_changes_by_more_than_a_tolerance():
    found = radii(TORQUE, np.array([[0.2, 0.0]]), tolerance=0.1)
    assert found[0] == pytest.approx(0.1, abs=1e-6)  # the linear leaf: 0.1 more of b
    assert radii(TORQUE, np.array([[0.2, 0.0]]), tolerance=0.9)[0] == pytest.approx(0.2, abs=1e-6)


def test_along_observations_of_linear_leaves_counts_other_leaves():
    points = np.array([[0.2, 0.0], [0.7, 1.0], [-0.4, 0.3]])
    radius = [nearest_flip(TORQUE, point).radius or 0.0 for point in points.tolist()]
    found = along(TORQUE, points)
    assert found.least == min(radius) > 0.01 and found.median == sorted(radius)[1]


def test_dead_leaves_and_widths():
    tree = CrispTree.from_nested(
        ("x", 0.0, ("x", -1.0, 0, 1), ("x", -4.0, 1, 0)), ("x",), ("a", "b")
    )
    facts = leaf_facts(tree)
    assert [fact.is_reachable for fact in facts] == [True, False, True, True]
    assert [fact.half_width for fact in facts] == [np.inf, 0.0, 2.0, np.inf]


def test_coverage_of_a_domain():
    domain = [(-1.0, 1.0)] * 4
    found = coverage(STEADY, domain)
    assert sum(found.shares.values()) == pytest.approx(1.0) and not found.unmet
    points = np.random.default_rng(0).uniform(-1, 1, (20_000, 4))
    leaves = STEADY.apply(points)
    for leaf, share in found.shares.items():
        assert (leaves == leaf).mean() == pytest.approx(share, abs=0.02)
    assert coverage(STEADY, [(0.5, 1.0)] * 4).unmet
    with pytest.raises(CrisptreeError, match="4 pairs of finite bounds"):
        coverage(STEADY, [(0.0, np.inf)] * 4)


def test_numbers_of_an_observation():
    assert numbers_of("1, 2 3,4e-1", STEADY) == [1.0, 2.0, 3.0, 0.4]
    with pytest.raises(CrisptreeError, match="an observation is 4 numbers"):
        numbers_of("1 2 nan 3", STEADY)
    assert len(CART_POLE) == 4
