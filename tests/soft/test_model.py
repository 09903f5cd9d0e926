"""What all trees share: mixed leaves, linear leaves, and the gains that are kept."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_shapes import recursion, shapes, softmax, topology_of

from crisptree.base.errors import CrisptreeError
from crisptree.soft import AxisTree, SoftTree, Topology, balanced, rule_list
from crisptree.soft.model import SMALLEST_PROBABILITY, choose_gains

SEEDS = st.integers(0, 2**32 - 1)


def linear_tree(topology: Topology, seed: int, kind=AxisTree):
    """Two outputs, three features, every gain drawn."""
    tree = kind.random(topology, 3, 2, key=jax.random.key(seed), gains=2)
    random = np.random.default_rng(seed)
    assert tree.gains is not None
    drawn = [jnp.asarray(random.normal(size=leaf.shape)) for leaf in (tree.leaves, tree.gains)]
    return eqx.tree_at(lambda t: (t.leaves, t.gains), tree, tuple(drawn))


@settings(max_examples=20)
@given(shapes(6), SEEDS)
def test_linear_leaves_are_lines_mixed_by_path_probability(shape, seed):
    tree = linear_tree(topology_of(shape), seed)
    x = np.random.default_rng(seed + 1).normal(size=3)
    lines = np.asarray(tree.leaves) + np.asarray(tree.gains) @ x
    mu = np.asarray(tree.goes_true(jnp.asarray(x, jnp.float32)), np.float64)
    expected = recursion(tree.topology, mu, lines)
    np.testing.assert_allclose(
        tree.mix(jnp.asarray(x, jnp.float32)), expected, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("kind", [AxisTree, SoftTree])
@pytest.mark.parametrize("topology", [balanced(5), rule_list(3)], ids=["tree", "list"])
def test_linear_leaves_have_the_gradient_of_finite_differences(kind, topology):
    with jax.enable_x64(True):
        tree = jax.tree.map(
            lambda leaf: leaf.astype(jnp.float64) if eqx.is_inexact_array(leaf) else leaf,
            linear_tree(topology, 5, kind),
        )
        tree = eqx.tree_at(lambda t: t.kept_gains, tree, tree.gains > -0.5)
        rows = jnp.asarray(np.random.default_rng(0).normal(size=(3, 7)))
        weights = jnp.asarray(np.random.default_rng(1).normal(size=(2, 7)))
        names = ("comparators", "leaves", "gains")
        values = [getattr(tree, name) for name in names]

        def objective(values):
            changed = eqx.tree_at(lambda t: [getattr(t, name) for name in names], tree, values)
            return (changed.mix(rows) * weights).sum()

        gradient, value_of = jax.grad(objective)(values), jax.jit(objective)
        step = 1e-5
        for which, parameter in enumerate(values):
            for at in np.ndindex(parameter.shape):
                up, down = (
                    value_of([*values[:which], parameter.at[at].add(d), *values[which + 1 :]])
                    for d in (step, -step)
                )
                measured = float(up - down) / (2 * step)
                assert float(gradient[which][at]) == pytest.approx(measured, rel=1e-5, abs=1e-8)


def test_the_gradient_of_a_gain_by_hand():
    """∂out/∂gain[l, o, f] = P(l) x_f."""
    tree = linear_tree(balanced(4), 0)
    x = jnp.array([0.3, -1.0, 2.0])
    gradient = eqx.filter_grad(lambda t: t.mix(x)[1])(tree).gains
    expected = np.zeros(gradient.shape)
    expected[:, 1] = np.outer(tree.leaf_probabilities(x), x)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)


def test_dropped_gains_count_for_nothing():
    tree = linear_tree(balanced(4), 0)
    kept = np.asarray(tree.gains) > 0
    dropped = eqx.tree_at(lambda t: t.kept_gains, tree, jnp.asarray(kept))
    zeroed = eqx.tree_at(lambda t: t.gains, tree, tree.gains * kept)
    x = jnp.array([0.3, -1.0, 2.0])
    np.testing.assert_array_equal(dropped.mix(x), zeroed.mix(x))
    assert (eqx.filter_grad(lambda t: t.mix(x).sum())(dropped).gains[~kept] == 0).all()


def test_the_largest_gains_are_kept_and_none_comes_back():
    tree = linear_tree(balanced(4), 3)
    chosen = choose_gains(tree)
    assert (np.asarray(chosen.kept_gains).sum(-1) == 2).all()
    size = np.abs(tree.gains)
    smallest = size.argmin(-1)
    assert not np.take_along_axis(np.asarray(chosen.kept_gains), smallest[..., None], -1).any()
    # what was dropped grows, what was kept vanishes: the choice stays
    grown = eqx.tree_at(lambda t: t.gains, chosen, jnp.where(chosen.kept_gains, 0.0, 9.0))
    np.testing.assert_array_equal(choose_gains(grown).kept_gains, chosen.kept_gains)


def test_constant_leaves_have_no_gains_to_choose():
    tree = AxisTree.random(balanced(4), 3, 2, key=jax.random.key(0))
    assert tree.gains is None
    assert choose_gains(tree) is tree


@pytest.mark.parametrize("gains", [-1, 4])
def test_more_gains_than_features(gains):
    with pytest.raises(CrisptreeError, match=f"from 0 .* to the 3 features, not {gains}"):
        AxisTree.random(balanced(4), 3, 2, key=jax.random.key(0), gains=gains)


@settings(max_examples=30)
@given(SEEDS, st.sampled_from([0.1, 3.0, 100.0]))
def test_a_policy_is_the_average_of_the_leaves_distributions(seed, scale):
    """Eq. 14: the leaves are distributions first and mixed afterwards."""
    random = np.random.default_rng(seed)
    tree = SoftTree.random(balanced(7), 2, 4, key=jax.random.key(0))
    logits = (scale * random.normal(size=(7, 4))).astype(np.float32)
    tree = eqx.tree_at(lambda t: t.leaves, tree, jnp.asarray(logits))
    x = jnp.asarray(random.normal(size=2), jnp.float32)
    shares = np.asarray(tree.leaf_probabilities(x))
    policy = np.exp(tree.log_policy(x))
    np.testing.assert_allclose(policy, shares @ softmax(logits), rtol=2e-5, atol=1e-30)
    assert float(policy.sum()) == pytest.approx(1, abs=1e-6)


def test_an_impossible_action_has_a_finite_logarithm():
    tree = SoftTree.random(balanced(2), 2, 2, key=jax.random.key(0))
    tree = eqx.tree_at(lambda t: t.leaves, tree, jnp.array([[1e6, 0.0], [1e6, 0.0]]))
    log_policy = tree.log_policy(jnp.zeros(2))
    np.testing.assert_allclose(log_policy, [0, np.log(SMALLEST_PROBABILITY)], atol=1e-5)


def test_a_lone_leaf_is_one_line():
    tree = linear_tree(balanced(1), 0)
    x = jnp.array([0.3, -1.0, 2.0])
    np.testing.assert_allclose(tree.mix(x), tree.leaves[0] + tree.gains[0] @ x, rtol=1e-6)
