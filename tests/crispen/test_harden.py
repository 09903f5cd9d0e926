import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds_of_tasks import BOX, DISCRETE, KINDS, PARTS
from tree_shapes import shapes, topology_of

from crisptree.crispen.harden import argmax, harden
from crisptree.learn.heads import head_for
from crisptree.learn.moments import Moments
from crisptree.soft import AxisTree, SoftTree, balanced, rule_list
from crisptree.soft.paths import Paths

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


def leaves_of(topology, task, random, gains: int):
    """Leaves of any size, and gains of which half are kept."""
    head = head_for(task.actions)
    shape = (topology.n_leaves, head.n_outputs)
    made = {"leaves": jnp.asarray(random.normal(size=shape), jnp.float32), "head": head}
    if gains:
        made["gains"] = jnp.asarray(random.normal(size=(*shape, 3)), jnp.float32)
        made["kept_gains"] = jnp.asarray(random.uniform(size=(*shape, 3)) < 0.5)
        made["max_gains"] = gains
    return made


def any_axis_tree(topology, seed: int, task=DISCRETE, gains: int = 0) -> AxisTree:
    random = np.random.default_rng(seed)
    return AxisTree(
        features=jnp.asarray(random.integers(0, 3, topology.n_nodes)),
        comparators=jnp.asarray(random.normal(size=topology.n_nodes), jnp.float32),
        steepness=jnp.asarray(2.0),
        paths=Paths.of(topology),
        **leaves_of(topology, task, random, gains),
    )


def any_soft_tree(topology, seed: int, task=DISCRETE, gains: int = 0) -> SoftTree:
    """Weights and steepness of either sign."""
    random = np.random.default_rng(seed)
    return SoftTree(
        weights=jnp.asarray(random.normal(size=(topology.n_nodes, 3)), jnp.float32),
        comparators=jnp.asarray(random.normal(size=topology.n_nodes), jnp.float32),
        steepness=jnp.asarray(random.normal(size=topology.n_nodes), jnp.float32),
        topology=topology,
        **leaves_of(topology, task, random, gains),
    )


def check_limit(steep, crisp, moments: Moments, states: np.ndarray) -> None:
    """Off the thresholds, the steep soft tree does what the crisp tree does."""
    standard = moments.standardize(jnp.asarray(states))
    off = np.asarray((jnp.abs(steep.margins(standard.T)) > 50).all(0))
    assert off.mean() > 0.9
    head = steep.head
    mixed = steep.mix(standard.T, head.of_leaf).T
    followed = head.to_env(head.mode(head.distribution(mixed, jnp.zeros(head.n_stds))))
    rtol, atol = (1e-4, 1e-4 * 12) if crisp.actions.kind == "box" else (0.0, 0.0)
    done = np.asarray(followed)[off]
    np.testing.assert_allclose(crisp.act(states[off]), done, rtol=rtol, atol=atol)


EVERY_LEAF = [*((kind, 0) for kind in KINDS), ("box", 2)]


@pytest.mark.parametrize(("kind", "gains"), EVERY_LEAF)
@settings(max_examples=20)
@given(shapes(8), SEEDS)
def test_a_steep_axis_tree_is_its_crisp_tree(kind, gains, shape, seed):
    task = KINDS[kind]
    tree, moments = any_axis_tree(topology_of(shape), seed, task, gains), any_moments(seed)
    crisp = harden(tree, moments, task)
    steep = eqx.tree_at(lambda t: t.steepness, tree, jnp.asarray(STEEP))
    check_limit(steep, crisp, moments, raw_states(moments, seed))
    # the steepness itself says nothing about the crisp tree
    assert harden(steep, moments, task) == crisp


@pytest.mark.parametrize(("kind", "gains"), EVERY_LEAF)
@settings(max_examples=20)
@given(shapes(8), SEEDS)
def test_a_steep_tree_with_one_weight_a_node_is_its_crisp_tree(kind, gains, shape, seed):
    """Whatever the signs of β and α, in raw units; the lesser weights are what argmax drops."""
    task = KINDS[kind]
    tree, moments = any_soft_tree(topology_of(shape), seed, task, gains), any_moments(seed)
    largest = np.abs(tree.weights).argmax(1)
    steep = eqx.tree_at(
        lambda t: (t.weights, t.steepness),
        tree,
        (tree.weights * np.eye(3, dtype=np.float32)[largest], tree.steepness * STEEP),
    )
    check_limit(steep, argmax(tree, moments, task), moments, raw_states(moments, seed))


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
        state = np.array([0, at + distance, 0], np.float32)
        action = argmax(tree, PLAIN, DISCRETE).predict(state)[0]
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
    crisp = argmax(tree, PLAIN, DISCRETE, "signed")
    assert crisp.feature[:3].tolist() == [1, 1, 1]
    assert crisp.threshold[:3].tolist() == [0.5, -0.5, 4.0]
    assert crisp.is_rule_list
    kept = argmax(tree, PLAIN, DISCRETE, "magnitude")
    assert kept.feature[:3].tolist() == [0, 0, 0]
    assert kept.is_rule_list  # two rules ask x < t: their leaf is on the other side


def test_one_action_for_each_leaf():
    tree = any_soft_tree(balanced(8), seed=4)
    for crisp in (argmax(tree, PLAIN, DISCRETE), argmax(tree, PLAIN, DISCRETE, "signed")):
        assert crisp.action[7:].tolist() == np.argmax(tree.leaves, 1).tolist()
    tree = any_axis_tree(balanced(8), 4, PARTS)
    leaves = np.asarray(tree.leaves)
    expected = np.stack([leaves[:, :2].argmax(1), leaves[:, 2:].argmax(1)], 1)
    np.testing.assert_array_equal(harden(tree, PLAIN, PARTS).action[7:], expected)


def test_constants_are_in_the_environment_s_units_and_within_its_bounds():
    """Bounds ±2 and 0 to 10: -1 is the lower one, 1 the upper."""
    tree = any_axis_tree(balanced(2), 0, BOX)
    tree = eqx.tree_at(lambda t: t.leaves, tree, jnp.array([[0.5, -0.5], [-3.0, 1.5]]))
    crisp = harden(tree, PLAIN, BOX)
    assert crisp.action[1:].tolist() == [[1.0, 2.5], [-2.0, 10.0]]
    assert not any(crisp.gains)


def test_a_line_by_hand():
    """u = 0.2 + 0.3 (x_1 - 5)/2, times 2 for the units: 0.4 + 0.3 (x_1 - 5) = -1.1 + 0.3 x_1."""
    tree = any_axis_tree(balanced(1), 0, BOX, gains=1)
    gains = jnp.array([[[7.0, 0.3, 7.0], [7.0, 7.0, 7.0]]])
    kept = jnp.array([[[False, True, False], [False, False, False]]])
    tree = eqx.tree_at(
        lambda t: (t.leaves, t.gains, t.kept_gains), tree, (jnp.array([[0.2, 9.0]]), gains, kept)
    )
    moments = Moments(jnp.array([0.0, 5.0, 0.0]), jnp.array([1.0, 4.0, 1.0]), jnp.ones(()))
    crisp = harden(tree, moments, BOX)
    ((dimension, feature, weight),) = crisp.gains[0]
    assert (dimension, feature) == (0, 1)
    assert weight == pytest.approx(0.3, rel=1e-6)
    np.testing.assert_allclose(crisp.action, [[-1.1, 10.0]], rtol=1e-6)


@settings(max_examples=20)
@given(SEEDS)
def test_thresholds_are_float32_as_observations_are(seed):
    moments = any_moments(seed)
    for crisp in (
        harden(any_axis_tree(balanced(8), seed), moments, DISCRETE),
        argmax(any_soft_tree(balanced(8), seed), moments, DISCRETE),
    ):
        assert (crisp.threshold == crisp.threshold.astype(np.float32)).all()


def test_what_is_known_of_features_and_actions_comes_from_the_task():
    for task in KINDS.values():
        crisp = harden(any_axis_tree(balanced(4), 0, task), PLAIN, task)
        assert (crisp.features, crisp.actions) == (task.features, task.actions)
        assert crisp.env_id == task.env_id


@pytest.mark.parametrize("weight", [0.0, 1e-30, -1e-30])
def test_a_node_that_weighs_nothing_still_gives_a_tree(weight):
    tree = eqx.tree_at(
        lambda t: t.weights, any_soft_tree(balanced(4), seed=0), jnp.full((3, 3), weight)
    )
    moments = Moments(jnp.zeros(3), jnp.full(3, 1e20), jnp.ones(()))
    for choice in ("magnitude", "signed"):
        assert np.isfinite(argmax(tree, moments, DISCRETE, choice).threshold).all()


def test_a_lone_leaf():
    tree = any_axis_tree(balanced(1), 0)
    assert harden(tree, PLAIN, DISCRETE).n_nodes == 1
