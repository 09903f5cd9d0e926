import math
from dataclasses import replace

import numpy as np
import pytest
from tree_strategies import BOX, MULTI, tree_of, tree_with

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import Actions, CrispTree, Feature, Gain


def test_names_alone_are_numbers_and_discrete_actions():
    tree = tree_of((0, 0.5, 1, 2))
    assert tree.features == (Feature("a"), Feature("b"), Feature("c"))
    assert tree.actions == Actions.discrete(("left", "stay", "right"))


def test_other_names_are_followed_where_nothing_else_is_known():
    tree = replace(tree_of(1), feature_names=("p", "q"), action_names=("yes", "no"))
    assert [each.name for each in tree.features] == ["p", "q"]
    assert tree.actions.names == ("yes", "no")


def test_names_that_differ_from_what_is_known():
    tree = tree_with([1, 2], MULTI)
    with pytest.raises(CrisptreeError, match="action_names and the names in actions differ"):
        replace(tree, action_names=("p", "q"))
    known = replace(tree, features=(Feature("a", low=0.0), Feature("b"), Feature("c")))
    with pytest.raises(CrisptreeError, match="feature_names and the names in features differ"):
        replace(known, feature_names=("p", "q", "r"))


def test_infinite_bounds_of_a_feature_are_none():
    tree = CrispTree.leaf(0, (), ("x",), features=(Feature("a", low=-math.inf, high=math.inf),))
    assert tree.features == (Feature("a"),)


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        (Feature("a", low=2.0, high=1.0), r"features\[0\].low is 2.0, above"),
        (Feature("a", low=math.nan), r"features\[0\].low is nan"),
        (Feature("a", low=math.inf), r"features\[0\].low is inf"),
        (Feature("a", categories=("x", "y")), "categories is for a category; this is a number"),
        (
            Feature("a", "category", 0.0, 2.0, ("x", "y")),
            r"has 2 names for the values 0 … 2; each value needs one",
        ),
        (Feature("a", "category", categories=("x", "x")), r"categories\[1\] repeats 'x'"),
        (Feature(""), r"features\[0\] is empty"),
    ],
)
def test_features(feature, message):
    with pytest.raises(CrisptreeError, match=message):
        CrispTree.leaf(0, (), ("x",), features=(feature,))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (replace(BOX, low=()), r"actions.low must hold a number for each dimension, 2 here"),
        (replace(BOX, low=(-math.inf, 0.0)), r"actions.low\[0\] is -inf; it must be a finite"),
        (replace(BOX, high=(2.0, math.nan)), r"actions.high\[1\] is nan"),
        (replace(BOX, high=(2.0, 0.0)), r"actions.low\[1\] is 0.0; it must be below 0.0"),
        (replace(BOX, high=(1e300, 1.0)), r"are beyond float32"),
        (replace(BOX, dtype="int64"), r"actions.dtype is 'int64'; it must be float32 or float64"),
        (replace(BOX, dtype="float33"), r"actions.dtype is 'float33'"),
        (replace(BOX, dtype=">f4"), r"actions.dtype is '>f4'"),
        (replace(BOX, shape=(3,)), r"actions.shape is \(3,\) and actions.names has 2 names"),
        (replace(BOX, shape=(-1, -2)), r"actions.shape must be a list of whole numbers above 0"),
        (replace(BOX, start=(1, 1)), r"actions.start is for choices"),
        (replace(BOX, choices=(("x",),)), r"actions.choices is for multi_discrete"),
        (replace(BOX, names=("x", "x")), r"actions.names\[1\] repeats 'x'"),
        (replace(MULTI, choices=()), r"actions.choices must hold the names of each part"),
        (replace(MULTI, choices=(("x",), ())), r"actions.choices\[1\] is empty"),
        (replace(MULTI, start=(1,)), r"actions.start has 1 numbers; it needs 2"),
        (replace(MULTI, low=(1.0,)), r"actions.low is for box actions"),
        (replace(MULTI, dtype="float32"), r"actions.dtype is 'float32'; it must be int64"),
        (Actions("discrete", ("a", "b"), shape=(2,)), r"a discrete action is one number"),
        (Actions("discrete", ("a",), start=(200,), dtype="int8"), r"cannot hold 200 … 200"),
        (Actions("discrete", ("a",), start=(-1,), dtype="uint8"), r"cannot hold -1 … -1"),
    ],
)
def test_actions(actions, message):
    with pytest.raises(CrisptreeError, match=message):
        CrispTree(
            np.array([-1]),
            np.array([0.0]),
            np.array([-1]),
            np.array([-1]),
            np.array([0]),
            ("a",),
            actions=actions,
        )


@pytest.mark.parametrize(
    ("nested", "actions", "message"),
    [
        ([2, 0], MULTI, r"there is no choice 2; the choices are low, high, or 0 … 1"),
        ([0], MULTI, r"a list of 2 values \(gear, lamp\); this one holds 1"),
        ({"gear": 0}, MULTI, r"a leaf names gear, lamp; this one names gear"),
        ([1.0], BOX, r"a list of 2 values \(torque, brake\); this one holds 1"),
        ([1.0, 1.5], BOX, r"tree.action\[0\]\[1\] is 1.5; dimension 1 lies in 0 … 1"),
        (("a", 1.0, [0.0, 0.0], [-3.0, 0.0]), BOX, r"tree.action\[2\]\[0\] is -3.0; dimension 0"),
        ([(9.0, {"a": 1.0}), 1.5], BOX, r"tree.action\[0\]\[1\] is 1.5"),
        ([math.nan, 0.0], BOX, r"tree.action\[0\]\[0\] is nan; it must be a finite"),
        (["x", 0.0], BOX, r"an action must be a number; this one is 'x'"),
        ([(0.0, {"z": 1.0}), 0.0], BOX, r"there is no feature 'z'"),
        ([(0.0, {"a": math.inf}), 0.0], BOX, r"tree.gains\[0\]\[0\]\[2\] is inf"),
        ([(0.0, {"a": 1.0, 0: 2.0}), 0.0], BOX, r"repeats feature 0 of dimension 0"),
        (("a", 1.0, [0.0, 0.0]), BOX, r"this one has 3 parts"),
    ],
)
def test_leaves(nested, actions, message):
    with pytest.raises(CrisptreeError, match=message):
        tree_with(nested, actions)


def test_the_constant_of_a_linear_dimension_may_lie_out_of_bounds():
    assert tree_with([(9.0, {"a": 1.0}), 0.0], BOX).predict([-8.0, 0.0, 0.0])[0][0] == 1.0


@pytest.mark.parametrize(
    ("gains", "message"),
    [
        (((Gain(2, 0, 1.0),),), r"tree.gains\[0\]\[0\]\[0\] is 2; the dimensions are 0 … 1"),
        (((Gain(0, 3, 1.0),),), r"tree.gains\[0\]\[0\]\[1\] is 3; the features are 0 … 2"),
        (((Gain(0, -1, 1.0),),), r"tree.gains\[0\]\[0\]\[1\] is -1"),
        (((Gain(0, 0, math.nan),),), r"tree.gains\[0\]\[0\]\[2\] is nan"),
        (((Gain(0, 0, 1.0),), ()), r"tree.gains has 2 entries and tree.feature has 1"),
    ],
)
def test_gains(gains, message):
    with pytest.raises(CrisptreeError, match=message):
        replace(tree_with([0.0, 0.0], BOX), gains=gains)


def test_gains_have_their_place():
    with pytest.raises(CrisptreeError, match=r"tree.gains is for box actions; this policy's are"):
        replace(tree_of(0), gains=((Gain(0, 0, 1.0),),))
    tree = tree_with(("a", 0.0, [0.0, 0.0], [1.0, 0.0]), BOX)
    with pytest.raises(CrisptreeError, match=r"tree.gains\[0\] is not empty; an inner node"):
        replace(tree, gains=((Gain(0, 0, 1.0),), (), ()))


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"env_kwargs": {"a": math.nan}}, r"env_kwargs.a is nan"),
        ({"feature_function": "no module"}, "feature_function is 'no module'; it must be module:"),
        ({"feature_function": "os:system()"}, "it must be module:name"),
    ],
)
def test_metadata(others, message):
    with pytest.raises(CrisptreeError, match=message):
        CrispTree.leaf(0, ("a",), ("x",), **others)
