import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_shapes import shapes, topology_of

from crisptree.soft import AxisTree, SoftTree, balanced
from crisptree.soft.paths import Paths


def any_pair(topology, seed: int) -> tuple[AxisTree, SoftTree]:
    """An axis-aligned tree, and the soft tree with one-hot weights that it should equal."""
    random = np.random.default_rng(seed)
    features = random.integers(0, 4, topology.n_nodes)
    comparators = jnp.asarray(random.normal(size=topology.n_nodes), jnp.float32)
    leaves = jnp.asarray(random.normal(size=(topology.n_leaves, 3)), jnp.float32)
    steepness = np.float32(10 ** random.uniform(-1, 2))
    axis = AxisTree(
        features=jnp.asarray(features),
        comparators=comparators,
        steepness=jnp.asarray(steepness),
        leaves=leaves,
        paths=Paths.of(topology),
    )
    soft = SoftTree(
        weights=jnp.asarray(np.eye(4)[features], jnp.float32),
        comparators=comparators,
        steepness=jnp.full(topology.n_nodes, steepness),
        leaves=leaves,
        topology=topology,
    )
    return axis, soft


@settings(max_examples=25)
@given(shapes(9), st.integers(0, 2**32 - 1))
def test_it_is_the_soft_tree_with_one_hot_weights(shape, seed):
    axis, soft = any_pair(topology_of(shape), seed)
    x = jnp.asarray(np.random.default_rng(seed).normal(size=4), jnp.float32)
    np.testing.assert_array_equal(axis.margins(x), soft.margins(x))
    np.testing.assert_array_equal(axis.leaf_probabilities(x), soft.leaf_probabilities(x))
    np.testing.assert_array_equal(axis.log_policy(x), soft.log_policy(x))


def test_comparators_and_leaves_learn_and_the_steepness_does_not():
    axis, soft = any_pair(balanced(8), seed=3)
    x = jnp.array([0.3, -0.2, 0.5, 1.0])
    of_axis, of_soft = (eqx.filter_grad(lambda t: t.log_policy(x)[0])(t) for t in (axis, soft))
    np.testing.assert_array_equal(of_axis.comparators, of_soft.comparators)
    np.testing.assert_array_equal(of_axis.leaves, of_soft.leaves)
    assert float(of_axis.steepness) == 0
    assert of_axis.features is None
    assert jnp.abs(of_soft.steepness).max() > 0


def test_a_random_tree_looks_at_every_feature():
    tree = AxisTree.random(balanced(64), 4, 2, key=jax.random.key(0))
    assert set(tree.features.tolist()) == {0, 1, 2, 3}
    assert bool(eqx.tree_equal(tree, AxisTree.random(balanced(64), 4, 2, key=jax.random.key(0))))


def test_all_rows_at_once_are_the_rows_one_by_one():
    axis, _ = any_pair(balanced(6), seed=4)
    rows = jnp.asarray(np.random.default_rng(0).normal(size=(5, 4)), jnp.float32)
    for of in (axis.margins, axis.leaf_probabilities, axis.log_policy):
        alone = [of(x) for x in rows]
        np.testing.assert_allclose(of(rows.T).T, alone, rtol=1e-5, atol=1e-6)
