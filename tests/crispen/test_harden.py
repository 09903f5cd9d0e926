from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_shapes import shapes, softmax, topology_of

from crisptree.crispen.harden import argmax, harden
from crisptree.envs.spaces import Task
from crisptree.learn.moments import Moments
from crisptree.soft import AxisTree, SoftTree, balanced, rule_list

TASK = Task("Some-v0", 3, 4, ("a", "b", "c"), ("w", "x", "y", "z"))
PLAIN = Moments(jnp.zeros(3), jnp.ones(3), jnp.ones(()))
SEEDS = st.integers(0, 2**32 - 1)
STEEP = 1e6


def any_moments(seed: int) -> Moments:
    """Raw units of very different sizes."""
    random = np.random.default_rng([seed, 1])
    scale = 10 ** random.uniform(-3, 3, 3)
    return Moments(
        mean=jnp.asarray(scale * random.normal(size=3), jnp.float32),
        variance=jnp.asarray(np.square(scale * random.uniform(0.1, 2, 3)), jnp.float32),
        count=jnp.asarray(1e6),
    )


def raw_states(moments: Moments, seed: int, n: int = 200) -> np.ndarray:
    standard = np.random.default_rng([seed, 2]).normal(scale=2, size=(n, 3))
    return (standard * moments.deviation + moments.mean).astype(np.float32)


def any_axis_tree(topology, seed: int) -> AxisTree:
    random = np.random.default_rng(seed)
    return AxisTree(
        features=jnp.asarray(random.integers(0, 3, topology.n_nodes)),
        comparators=jnp.asarray(random.normal(size=topology.n_nodes), jnp.float32),
        steepness=jnp.asarray(2.0),
        leaves=jnp.asarray(random.normal(size=(topology.n_leaves, 4)), jnp.float32),
        topology=topology,
    )


def any_soft_tree(topology, seed: int) -> SoftTree:
    """Weights and steepness of either sign."""
    random = np.random.default_rng(seed)
    return SoftTree(
        weights=jnp.asarray(random.normal(size=(topology.n_nodes, 3)), jnp.float32),
        comparators=jnp.asarray(random.normal(size=topology.n_nodes), jnp.float32),
        steepness=jnp.asarray(random.normal(size=topology.n_nodes), jnp.float32),
        leaves=jnp.asarray(random.normal(size=(topology.n_leaves, 4)), jnp.float32),
        topology=topology,
    )


def check_limit(steep, crisp, moments: Moments, states: np.ndarray) -> None:
    """Off the thresholds, the steep soft tree follows one leaf alone, the crisp tree's."""
    standard = moments.standardise(jnp.asarray(states))
    off = np.asarray((jnp.abs(jax.vmap(steep.margins)(standard)) > 50).all(1))
    assert off.mean() > 0.9
    reached = crisp.apply(states[off]) - steep.topology.n_nodes
    followed = np.exp(jax.vmap(steep.log_policy)(standard))[off]
    np.testing.assert_allclose(followed, softmax(steep.leaves)[reached], rtol=1e-5)
    assert crisp.predict(states[off])[0].tolist() == followed.argmax(1).tolist()


@settings(max_examples=40)
@given(shapes(8), SEEDS)
def test_a_steep_axis_tree_is_its_crisp_tree(shape, seed):
    tree, moments = any_axis_tree(topology_of(shape), seed), any_moments(seed)
    crisp = harden(tree, moments, TASK)
    steep = eqx.tree_at(lambda t: t.steepness, tree, jnp.asarray(STEEP))
    check_limit(steep, crisp, moments, raw_states(moments, seed))
    # the steepness itself says nothing about the crisp tree
    assert harden(steep, moments, TASK).to_dict() == crisp.to_dict()


@settings(max_examples=40)
@given(shapes(8), SEEDS)
def test_a_steep_tree_with_one_weight_a_node_is_its_crisp_tree(shape, seed):
    """Whatever the signs of β and α, in raw units; the lesser weights are what argmax drops."""
    tree, moments = any_soft_tree(topology_of(shape), seed), any_moments(seed)
    largest = np.abs(tree.weights).argmax(1)
    steep = eqx.tree_at(
        lambda t: (t.weights, t.steepness),
        tree,
        (tree.weights * np.eye(3, dtype=np.float32)[largest], tree.steepness * STEEP),
    )
    check_limit(steep, argmax(tree, moments, TASK), moments, raw_states(moments, seed))


@pytest.mark.parametrize(("beta", "alpha"), [(2, 3), (-2, 3), (2, -3), (-2, -3)])
def test_the_direction_of_a_node_by_hand(beta, alpha):
    """α(βx - 1) > 0 for x beyond 1/β, above it or below it as the sign of αβ says."""
    tree = SoftTree(
        weights=jnp.array([[0.0, beta, 0.5]]),
        comparators=jnp.array([1.0]),
        steepness=jnp.array([float(alpha)]),
        leaves=jnp.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]),
        topology=balanced(2),
    )
    at = 1 / beta
    for distance in (-1.0, -1e-6, 0.0, 1e-6, 1.0):
        action = argmax(tree, PLAIN, TASK).predict(np.float32([0, at + distance, 0]))[0]
        is_true = alpha * (beta * np.float32(at + distance) - 1) > 0
        assert action == (1 if is_true else 3)


def test_signed_is_the_paper_to_the_letter():
    """argmax_j β_j and x_j > φ/β_j, with neither sign nor steepness asked."""
    tree = eqx.tree_at(
        lambda t: (t.weights, t.comparators, t.steepness),
        any_soft_tree(rule_list(3), seed=0),
        (
            jnp.array([[-4.0, 2.0, 1.0], [-4.0, -1.0, -2.0], [-3.0, 0.5, 0.25]]),
            jnp.array([1.0, 0.5, 2.0]),
            jnp.array([1.0, 1.0, -1.0]),
        ),
    )
    crisp = argmax(tree, PLAIN, TASK, "signed")
    assert crisp.feature[:3].tolist() == [1, 1, 1]
    assert crisp.threshold[:3].tolist() == [0.5, -0.5, 4.0]
    assert crisp.is_rule_list
    kept = argmax(tree, PLAIN, TASK, "magnitude")
    assert kept.feature[:3].tolist() == [0, 0, 0]
    assert kept.is_rule_list  # two rules ask x < t: their leaf is on the other side


def test_one_action_a_leaf():
    tree = any_soft_tree(balanced(8), seed=4)
    for crisp in (argmax(tree, PLAIN, TASK), argmax(tree, PLAIN, TASK, "signed")):
        assert crisp.action[7:].tolist() == np.argmax(tree.leaves, 1).tolist()


@settings(max_examples=20)
@given(SEEDS)
def test_thresholds_are_float32_as_observations_are(seed):
    moments = any_moments(seed)
    for crisp in (
        harden(any_axis_tree(balanced(8), seed), moments, TASK),
        argmax(any_soft_tree(balanced(8), seed), moments, TASK),
    ):
        assert (crisp.threshold == crisp.threshold.astype(np.float32)).all()


def test_names_and_environment_come_from_the_task():
    crisp = harden(any_axis_tree(balanced(4), seed=0), PLAIN, replace(TASK, env_id="Other-v1"))
    assert (crisp.feature_names, crisp.action_names) == (TASK.feature_names, TASK.action_names)
    assert crisp.env_id == "Other-v1"


@pytest.mark.parametrize("weight", [0.0, 1e-30, -1e-30])
def test_a_node_that_weighs_nothing_still_gives_a_tree(weight):
    tree = eqx.tree_at(
        lambda t: t.weights, any_soft_tree(balanced(4), seed=0), jnp.full((3, 3), weight)
    )
    moments = Moments(jnp.zeros(3), jnp.full(3, 1e20), jnp.ones(()))
    for choice in ("magnitude", "signed"):
        assert np.isfinite(argmax(tree, moments, TASK, choice).threshold).all()
