from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_shapes import recursion, shapes, sigmoid, softmax, topology_of

from crisptree.soft import SoftTree, Topology, balanced, rule_list

SEEDS = st.integers(0, 2**32 - 1)


def any_tree(topology: Topology, seed: int, n_features: int = 3, n_actions: int = 3) -> SoftTree:
    """All parameters of order one, steepness of either sign."""
    random = np.random.default_rng(seed)
    nodes, leaves = topology.n_nodes, topology.n_leaves
    return SoftTree(
        weights=jnp.asarray(random.normal(size=(nodes, n_features))),
        comparators=jnp.asarray(random.normal(size=nodes)),
        steepness=jnp.asarray(random.normal(size=nodes)),
        leaves=jnp.asarray(random.normal(size=(leaves, n_actions))),
        topology=topology,
    )


def any_observation(seed: int, n_features: int = 3) -> jax.Array:
    return jnp.asarray(np.random.default_rng(seed + 1).normal(size=n_features))


@jax.jit
def value_and_gradient(tree: SoftTree, x: jax.Array):
    """Of the first action's value."""
    return eqx.filter_value_and_grad(lambda t: t.q_values(x)[0])(tree)


@given(*[st.floats(-5, 5)] * 7)
def test_one_node_has_the_gradient_of_the_paper(s, alpha, beta, phi, true_leaf, false_leaf, other):
    """Eq. 7 to 12. Where the paper prints `(a)` in Eq. 11 and 12, the steepness α is meant."""
    with jax.enable_x64(True):
        tree = SoftTree(
            weights=jnp.asarray(np.array([[beta]])),
            comparators=jnp.asarray(np.array([phi])),
            steepness=jnp.asarray(np.array([alpha])),
            leaves=jnp.asarray(np.array([[true_leaf, other], [false_leaf, other]])),
            topology=balanced(2),
        )
        value, gradient = value_and_gradient(tree, jnp.asarray(np.array([s])))
    mu = 1 / (1 + np.exp(-alpha * (beta * s - phi)))
    slope = (true_leaf - false_leaf) * mu * (1 - mu)
    close: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(value, mu * true_leaf + (1 - mu) * false_leaf, **close)
    np.testing.assert_allclose(gradient.leaves, [[mu, 0], [1 - mu, 0]], **close)
    np.testing.assert_allclose(gradient.steepness, [slope * (beta * s - phi)], **close)
    np.testing.assert_allclose(gradient.weights, [[slope * alpha * s]], **close)
    np.testing.assert_allclose(gradient.comparators, [slope * alpha * -1], **close)


@jax.jit
def policy_gradient(tree: SoftTree, x: jax.Array) -> SoftTree:
    """Of the second action's probability."""
    return eqx.filter_grad(lambda t: jnp.exp(t.log_policy(x))[1])(tree)


@given(SEEDS)
def test_one_policy_node_has_the_gradient_of_the_paper(seed):
    """Eq. 9 to 12 for Eq. 14 with several features; leaves are logits, so the softmax follows."""
    with jax.enable_x64(True):
        tree, x = any_tree(balanced(2), seed), any_observation(seed)
        gradient = policy_gradient(tree, x)
    x, beta, phi = np.asarray(x), np.asarray(tree.weights)[0], float(tree.comparators[0])
    alpha = float(tree.steepness[0])
    mu = sigmoid(alpha * (beta @ x - phi))
    of_true, of_false = softmax(tree.leaves)
    slope = (of_true[1] - of_false[1]) * mu * (1 - mu)
    close: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-14}
    np.testing.assert_allclose(gradient.weights, [slope * alpha * x], **close)
    np.testing.assert_allclose(gradient.comparators, [-slope * alpha], **close)
    np.testing.assert_allclose(gradient.steepness, [slope * (beta @ x - phi)], **close)
    chosen = np.eye(3)[1]
    of_leaves = np.asarray(gradient.leaves)
    for row, share, leaf in zip(of_leaves, (mu, 1 - mu), (of_true, of_false), strict=True):
        np.testing.assert_allclose(row, share * leaf[1] * (chosen - leaf), **close)


def objective(tree: SoftTree, x) -> jax.Array:
    """A number that depends on every output."""
    mixing = jnp.array([1.0, -2.0, 3.0])
    return tree.q_values(x) @ mixing + tree.log_policy(x) @ mixing[::-1]


@pytest.mark.parametrize("topology", [balanced(7), rule_list(6)], ids=["tree", "list"])
def test_many_nodes_have_the_gradient_of_finite_differences(topology):
    with jax.enable_x64(True):
        tree, x = any_tree(topology, seed=5), any_observation(seed=5)
        leaves, structure = jax.tree.flatten(tree)
        gradient = jax.tree.leaves(eqx.filter_jit(eqx.filter_grad(objective))(tree, x))
        value_of = jax.jit(lambda leaves: objective(jax.tree.unflatten(structure, leaves), x))
        step = 1e-5
        for which, parameter in enumerate(leaves):
            for at in np.ndindex(parameter.shape):
                up, down = (
                    value_of([*leaves[:which], parameter.at[at].add(d), *leaves[which + 1 :]])
                    for d in (step, -step)
                )
                measured = float(up - down) / (2 * step)
                assert float(gradient[which][at]) == pytest.approx(measured, rel=1e-6, abs=1e-8)


@settings(max_examples=25)
@given(shapes(9), SEEDS)
def test_any_shape_is_the_recursion_of_the_paper(shape, seed):
    """Eq. 2 with μ of Eq. 4: values mixed as they are (Eq. 13), policies as distributions (14)."""
    tree, x = any_tree(topology_of(shape), seed), any_observation(seed)
    mu = sigmoid(tree.steepness * (np.asarray(tree.weights) @ x - tree.comparators))
    np.testing.assert_allclose(tree.goes_true(x), mu, rtol=1e-5)
    values = recursion(tree.topology, mu, np.asarray(tree.leaves))
    np.testing.assert_allclose(tree.q_values(x), values, rtol=1e-4, atol=1e-6)
    policy = recursion(tree.topology, mu, softmax(tree.leaves))
    np.testing.assert_allclose(jnp.exp(tree.log_policy(x)), policy, rtol=1e-5)
    assert float(tree.leaf_probabilities(x).sum()) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("n_rules", [1, 2, 8, 32])
def test_a_rule_list_is_equation_15(n_rules):
    """From the last rule up: T = μ y_true + (1 - μ) T_next, with leaf i on rule i."""
    tree, x = any_tree(rule_list(n_rules), seed=n_rules), any_observation(seed=0)
    mu, leaves = np.asarray(tree.goes_true(x), np.float64), np.asarray(tree.leaves, np.float64)
    value = leaves[n_rules]
    for rule in reversed(range(n_rules)):
        value = mu[rule] * leaves[rule] + (1 - mu[rule]) * value
    np.testing.assert_allclose(tree.q_values(x), value, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("topology", [balanced(6), rule_list(4)], ids=["tree", "list"])
@pytest.mark.parametrize("output", ["log_policy", "q_values", "leaf_probabilities", "goes_true"])
def test_all_rows_at_once_are_the_rows_one_by_one(topology, output):
    of = getattr(any_tree(topology, seed=1), output)
    rows = jnp.asarray(np.random.default_rng(0).normal(size=(5, 3)))
    alone = [of(x) for x in rows]
    np.testing.assert_allclose(of(rows.T).T, alone, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(jax.vmap(of)(rows), alone, rtol=1e-5, atol=1e-6)


def test_all_rows_at_once_have_the_sum_of_their_gradients():
    with jax.enable_x64(True):
        tree = any_tree(balanced(7), seed=2)
        rows = jnp.asarray(np.random.default_rng(0).normal(size=(5, 3)))

        def of_all(tree):
            return tree.log_policy(rows.T)[1].sum() + tree.q_values(rows.T)[2].sum()

        def one_by_one(tree):
            return sum(tree.log_policy(x)[1] + tree.q_values(x)[2] for x in rows)

        together, alone = (jax.tree.leaves(eqx.filter_grad(f)(tree)) for f in (of_all, one_by_one))
        for a, b in zip(together, alone, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_a_random_tree_starts_undecided():
    tree = SoftTree.random(balanced(32), 4, 3, key=jax.random.key(0))
    policies = jnp.exp(jax.vmap(tree.log_policy)(jax.random.normal(jax.random.key(1), (100, 4))))
    assert jnp.abs(policies - 1 / 3).max() < 0.1
    assert (tree.steepness == 1).all()
    again = SoftTree.random(balanced(32), 4, 3, key=jax.random.key(0))
    assert bool(eqx.tree_equal(tree, again))
    assert not bool(
        eqx.tree_equal(tree, SoftTree.random(balanced(32), 4, 3, key=jax.random.key(1)))
    )
