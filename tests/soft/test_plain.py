import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.soft import AxisTree, SoftTree, balanced, rule_list
from crisptree.soft.plain import log_policies


@pytest.mark.parametrize("kind", [SoftTree, AxisTree])
@pytest.mark.parametrize("topology", [balanced(2), balanced(7), rule_list(5)])
@pytest.mark.parametrize("steepness", [1.0, 150.0])
def test_it_is_the_policy_of_every_tree(kind, topology, steepness):
    def fresh(key):
        tree = kind.random(topology, 4, 3, key=key)
        return eqx.tree_at(lambda t: t.steepness, tree, steepness * tree.steepness)

    trees = eqx.filter_vmap(fresh)(jax.random.split(jax.random.key(0), 3))
    x = np.random.default_rng(0).normal(size=(3, 20, 4)).astype(np.float32)
    found = log_policies(trees)(x)
    expected = eqx.filter_vmap(lambda tree, rows: tree.log_policy(rows.T).T)(trees, jnp.asarray(x))
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.exp(found), np.exp(expected), rtol=2e-5, atol=1e-6)


def test_a_leaf_that_is_never_reached_is_no_nan():
    tree = AxisTree(
        features=jnp.zeros(1, int),
        comparators=jnp.zeros(1),
        steepness=jnp.asarray(1e6, jnp.float32),
        leaves=jnp.array([[200.0, 0.0], [0.0, 200.0]]),
        topology=balanced(2),
    )
    found = log_policies(jax.tree.map(lambda leaf: leaf[None], tree))(
        np.array([[[1.0], [-1.0]]], np.float32)
    )
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.exp(found), [[[1, 0], [0, 1]]], atol=1e-6)
