import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds_of_tasks import BOX, DISCRETE, KINDS
from tree_shapes import shapes
from tree_strategies import one_of_every_cell

from crisptree.crisp import CrispTree
from crisptree.crispen.harden import harden
from crisptree.crispen.soften import soften
from crisptree.learn.heads import head_for
from crisptree.learn.moments import Moments

PLAIN = Moments(jnp.zeros(3), jnp.ones(3), jnp.ones(()))
RAW = Moments(jnp.array([3.0, -0.02, 500.0]), jnp.array([4.0, 1e-6, 1e4]), jnp.ones(()))
SEEDS = st.integers(0, 2**32 - 1)


def filled(shape, random: np.random.Generator, leaf):
    """Any features and thresholds for a shape."""
    if shape is None:
        return leaf(random)
    sides = (filled(side, random, leaf) for side in shape)
    threshold = float(np.float32(random.uniform(-5, 5)))
    return int(random.integers(3)), threshold, *sides


def line(random: np.random.Generator) -> list:
    """Of each dimension: a constant, and up to two gains."""
    names = DISCRETE.feature_names
    chosen = random.permutation(3)[: random.integers(3)]
    gains = {names[i]: float(random.normal()) for i in chosen}
    return [(float(random.uniform(-2, 2)), gains), float(random.uniform(0, 10))]


LEAVES = {
    "discrete": lambda random: int(random.integers(4)),
    "multi_discrete": lambda random: [int(random.integers(2)), int(random.integers(3))],
    "box": lambda random: [float(random.uniform(-2, 2)), float(random.uniform(0, 10))],
    "linear": line,
}


def any_tree(kind: str, shape, seed: int) -> CrispTree:
    task = KINDS["box" if kind == "linear" else kind]
    nested = filled(shape, np.random.default_rng(seed), LEAVES[kind])
    return CrispTree.from_nested(nested, features=task.features, actions=task.actions)


def task_of_tree(tree: CrispTree):
    return KINDS[tree.actions.kind]


def check_same(one: CrispTree, other: CrispTree, states: np.ndarray) -> None:
    assert (one.n_nodes, one.depth) == (other.n_nodes, other.depth)
    rtol, atol = (1e-4, 2e-3) if one.actions.kind == "box" else (0.0, 0.0)
    np.testing.assert_allclose(one.act(states), other.act(states), rtol=rtol, atol=atol)


@pytest.mark.parametrize("kind", LEAVES)
@settings(max_examples=25)
@given(shapes(7), SEEDS)
def test_there_and_back_is_the_same_policy(kind, shape, seed):
    """Without standardisation no threshold is rounded: every cell keeps its action."""
    tree = any_tree(kind, shape, seed)
    back = harden(soften(tree, PLAIN), PLAIN, task_of_tree(tree))
    cells = np.minimum(one_of_every_cell(tree), 9.0)
    check_same(back, tree, cells)


@pytest.mark.parametrize("kind", LEAVES)
@settings(max_examples=25)
@given(shapes(7), SEEDS)
def test_there_and_back_through_standardised_units(kind, shape, seed):
    """The same actions off the thresholds, which come back but for rounding."""
    tree = any_tree(kind, shape, seed)
    raw = np.random.default_rng(seed).uniform(-6, 6, size=(300, 3)).astype(np.float32)
    thresholds = tree.threshold[tree.feature >= 0]
    # φσ + m is rounded in units of the larger of m and t: one part in 2^22 of 500 at most
    off = (np.abs(raw[:, :, None] - thresholds) > 3e-4).all((1, 2))
    assert off.sum() > 250
    back = harden(soften(tree, RAW), RAW, task_of_tree(tree))
    check_same(back, tree, raw[off])


@pytest.mark.parametrize("kind", LEAVES)
@settings(max_examples=15)
@given(shapes(6), SEEDS)
def test_a_steep_soft_tree_does_what_the_crisp_tree_does(kind, shape, seed):
    tree = any_tree(kind, shape, seed)
    soft = soften(tree, PLAIN, steepness=1e6)
    states = np.random.default_rng(seed).uniform(-6, 6, size=(100, 3)).astype(np.float32)
    off = (np.abs(states[:, :, None] - tree.threshold[tree.feature >= 0]) > 1e-4).all((1, 2))
    assert off.sum() > 90
    head = head_for(tree.actions)
    mixed = soft.mix(jnp.asarray(states).T, head.of_leaf).T
    done = head.to_env(head.mode(head.distribution(mixed, jnp.zeros(head.n_stds))))
    close = 1e-4 if tree.actions.kind == "box" else 0.0
    expected = tree.act(states)[off]
    np.testing.assert_allclose(np.asarray(done)[off], expected, rtol=close, atol=close)


def test_leaves_prefer_the_crisp_tree_s_actions():
    """One logit of 2 among zeros."""
    tree = any_tree("discrete", ((None, None), None), 0)
    soft = soften(tree, PLAIN, leaf_logit=2.0)
    policy = np.asarray(jax.nn.softmax(soft.leaves[:3]))
    np.testing.assert_allclose(policy.max(1), np.exp(2) / (np.exp(2) + 3), rtol=1e-5)


def test_units_and_steepness():
    nested = (0, 7.0, (1, -0.02, 0, 1), 2)
    tree = CrispTree.from_nested(nested, features=DISCRETE.features, actions=DISCRETE.actions)
    soft = soften(tree, RAW, steepness=5.0)
    np.testing.assert_allclose(soft.comparators[:2], [2.0, 0.0], atol=1e-6)
    assert soft.features[:2].tolist() == [0, 1]
    assert float(soft.steepness) == 5.0


def test_the_gains_that_are_there_are_those_that_count():
    leaf = [(1.0, {"b": 0.5}), (5.0, {"a": 1.0, "c": -2.0})]
    tree = CrispTree.from_nested(("a", 0.0, leaf, [0.0, 1.0]), **signature(BOX))
    soft = soften(tree, PLAIN)
    assert soft.max_gains == 2
    counts = [[1, 2], [0, 0]]
    assert np.asarray(soft.kept_gains)[:2].sum(-1).tolist() == counts
    # leaves without any may be given some
    linear = soften(tree, PLAIN, gains=1)
    assert np.asarray(linear.kept_gains)[:2].sum(-1).tolist() == [[1, 2], [3, 3]]
    assert linear.max_gains == 2


def signature(task) -> dict:
    return {"features": task.features, "actions": task.actions}


def test_constant_leaves_stay_constant_unless_asked():
    tree = CrispTree.from_nested(("a", 0.0, [0.0, 1.0], [1.0, 2.0]), **signature(BOX))
    assert soften(tree, PLAIN).gains is None
    linear = soften(tree, PLAIN, gains=3)
    assert (linear.max_gains, bool(np.asarray(linear.kept_gains)[:2].all())) == (3, True)
    assert not np.asarray(linear.gains).any()
    assert dataclasses.replace(harden(linear, PLAIN, BOX), env_id=None).gains == ((),) * 3


def test_a_lone_leaf():
    tree = CrispTree.from_nested([0.5, 1.0], **signature(BOX))
    back = harden(soften(tree, PLAIN), PLAIN, BOX)
    np.testing.assert_allclose(back.act(np.zeros((2, 3))), [[0.5, 1.0]] * 2, rtol=1e-6)
