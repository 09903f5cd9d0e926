import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.soft import MLP, AxisTree, SoftTree, balanced, rule_list
from crisptree.soft.model import as_is
from crisptree.soft.numpy_models import numpy_mix
from crisptree.soft.paths import Paths

X = np.random.default_rng(0).normal(size=(3, 20, 4)).astype(np.float32)


def check_same(models, of_leaf) -> None:
    """Three seeds, 20 rows of 4 features."""
    found = numpy_mix(models, of_leaf)(X)
    expected = eqx.filter_vmap(lambda model, rows: model.mix(rows.T, of_leaf).T)(
        models, jnp.asarray(X)
    )
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


def softmax(logits):
    """Works on NumPy's and JAX's arrays."""
    powers = 2.718281828**logits
    return (powers / powers.sum(-1, keepdims=True)).astype("float32")


@pytest.mark.parametrize("kind", [SoftTree, AxisTree])
@pytest.mark.parametrize("topology", [balanced(1), balanced(2), balanced(7), rule_list(5)])
@pytest.mark.parametrize(("steepness", "gains"), [(1.0, 0), (150.0, 0), (2.0, 2)])
def test_it_is_what_every_tree_mixes(kind, topology, steepness, gains):
    def fresh(key):
        tree = kind.random(topology, 4, 3, key=key, gains=gains)
        tree = eqx.tree_at(lambda t: t.steepness, tree, steepness * tree.steepness)
        if gains == 0:
            return tree
        drawn = jax.random.normal(key, tree.gains.shape)
        return eqx.tree_at(lambda t: (t.gains, t.kept_gains), tree, (drawn, drawn > 0))

    trees = eqx.filter_vmap(fresh)(jax.random.split(jax.random.key(0), 3))
    check_same(trees, as_is)
    if gains == 0:
        check_same(trees, softmax)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_it_is_what_every_mlp_gives(activation):
    def fresh(key):
        return MLP.random((4, 6, 5, 3), key=key, activation=activation, last_scale=1.0)

    models = eqx.filter_vmap(fresh)(jax.random.split(jax.random.key(0), 3))
    check_same(models, as_is)
    check_same(models, softmax)


def test_a_leaf_that_is_never_reached_is_no_nan():
    tree = AxisTree(
        features=jnp.zeros(1, int),
        comparators=jnp.zeros(1),
        steepness=jnp.asarray(1e6, jnp.float32),
        leaves=jnp.array([[1.0, 0.0], [0.0, 1.0]]),
        paths=Paths.of(balanced(2)),
    )
    mix = numpy_mix(jax.tree.map(lambda leaf: leaf[None], tree), as_is)
    np.testing.assert_array_equal(mix(np.array([[[1.0], [-1.0]]], np.float32)), [[[1, 0], [0, 1]]])
