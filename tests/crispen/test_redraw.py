import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crisptree.crispen.redraw import FEWEST, IDLE, redraw_idle_nodes, redrawn
from crisptree.learn import ppo
from crisptree.learn.config import PPOConfig
from crisptree.learn.moments import Moments
from crisptree.learn.stacks import pick, stack
from crisptree.soft import AxisTree, balanced, rule_list

STATES = np.random.default_rng(0).normal(size=(2000, 3)).astype(np.float32)


def far_off(n_leaves: int, seed: int = 0) -> AxisTree:
    """A random tree of which every comparator is beyond all states."""
    tree = AxisTree.random(balanced(n_leaves), 3, 2, key=jax.random.key(seed))
    return eqx.tree_at(lambda t: t.comparators, tree, tree.comparators + 50)


def leaves_of(tree: AxisTree) -> np.ndarray:
    """The leaf that each of 400 states reaches in the crisp tree."""
    features, comparators = np.asarray(tree.features), np.asarray(tree.comparators)
    shape, reached = tree.topology, []
    for state in STATES[:400]:
        node = 0
        while node >= 0:
            goes_true = state[features[node]] > comparators[node]
            node = (shape.if_true if goes_true else shape.if_false)[node]
        reached.append(~node)
    return np.array(reached)


def test_every_leaf_is_put_to_use():
    tree = far_off(16)
    assert len(set(leaves_of(tree))) == 1
    after = redrawn(tree, STATES, np.random.default_rng(1))
    shares = np.bincount(leaves_of(after), minlength=16) / 400
    assert shares.min() > 0
    assert shares.max() < 0.5


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_the_crisp_policy_stays_what_it_was(seed):
    tree = AxisTree.random(balanced(8), 3, 2, key=jax.random.key(seed))
    tree = eqx.tree_at(lambda t: t.comparators, tree, 4 * tree.comparators)
    after = redrawn(tree, STATES, np.random.default_rng(seed))
    before_leaf, after_leaf = leaves_of(tree), leaves_of(after)
    same = np.asarray(tree.leaves)[before_leaf] == np.asarray(after.leaves)[after_leaf]
    # what went the rare way of an idle node is all that may change, at each of three levels
    assert same.all(axis=1).mean() >= 1 - 3 * 2 * IDLE


def test_nodes_in_use_are_left_alone():
    features = jnp.array([0, 1, 2])
    tree = far_off(4)
    tree = eqx.tree_at(lambda t: (t.features, t.comparators), tree, (features, jnp.zeros(3)))
    after = redrawn(tree, STATES, np.random.default_rng(0))
    assert bool(eqx.tree_equal(after, tree))


@pytest.mark.parametrize(
    "states", [STATES[: FEWEST - 1], np.ones((500, 3), np.float32)], ids=["few", "all alike"]
)
def test_what_cannot_be_told_apart_is_left_alone(states):
    tree = far_off(8)
    assert bool(eqx.tree_equal(redrawn(tree, states, np.random.default_rng(0)), tree))


def test_subtrees_of_another_shape_are_left_alone():
    tree = AxisTree.random(rule_list(3), 3, 2, key=jax.random.key(0))
    tree = eqx.tree_at(lambda t: t.comparators, tree, tree.comparators + 50)
    after = redrawn(tree, STATES, np.random.default_rng(0))
    # only the last rule has two leaves
    assert after.features[:2].tolist() == tree.features[:2].tolist()
    assert after.comparators[:2].tolist() == tree.comparators[:2].tolist()
    assert float(after.comparators[2]) < 10


MOMENTS = Moments(jnp.array([5.0, 0.0, -1.0]), jnp.array([4.0, 1e-4, 1.0]), jnp.ones(()))
RAW = STATES * np.asarray(MOMENTS.deviation) + np.asarray(MOMENTS.mean)


def two_starts(update: int, n_updates: int = 100):
    """Two learners whose trees have only idle nodes, after so many updates."""
    config = PPOConfig(n_envs=2, n_steps=8, n_minibatches=2)
    states = stack(
        [
            ppo.init(
                far_off(4, i), 3, config, n_updates, key=jax.random.key(i), observations=MOMENTS
            )
            for i in range(2)
        ]
    )
    counts = (jnp.full(2, update), jnp.full(2, float(update)))
    return eqx.tree_at(lambda s: (s.schedule.update, s.schedule.pace_sum), states, counts)


@pytest.mark.parametrize(("update", "redraws"), [(10, True), (50, True), (15, False), (60, False)])
def test_nodes_are_redrawn_every_so_many_updates_until_an_end(update, redraws):
    states = two_starts(update)
    after = redraw_idle_nodes(states, [RAW, RAW], until=0.6, seed=3, every=10)
    assert bool((after.actor.comparators < 10).all()) is redraws
    if not redraws:
        assert after is states
        return
    for start in range(2):
        rng = np.random.default_rng([3, update, start])
        expected = redrawn(pick(states.actor, start), STATES, rng)
        found = pick(after.actor, start)
        assert found.features.tolist() == expected.features.tolist()
        np.testing.assert_allclose(found.comparators, expected.comparators, atol=1e-4)
    assert after.actor.features[0].tolist() != after.actor.features[1].tolist()


def test_each_start_has_its_own_progress():
    """The second is past the end of redrawing."""
    states = two_starts(10)
    states = eqx.tree_at(lambda s: s.schedule.pace_sum, states, jnp.array([10.0, 70.0]))
    after = redraw_idle_nodes(states, [RAW, RAW], until=0.6, seed=3, every=10)
    assert (after.actor.comparators[0] < 10).all()
    assert (after.actor.comparators[1] > 40).all()


def test_gains_go_with_their_leaves():
    tree = AxisTree.random(balanced(4), 3, 2, key=jax.random.key(0), gains=1)
    numbered = jnp.arange(4.0)[:, None, None] * jnp.ones((4, 2, 3))
    tree = eqx.tree_at(
        lambda t: (t.comparators, t.leaves, t.gains, t.kept_gains),
        tree,
        (tree.comparators + 50, numbered[:, :, 0], numbered, numbered % 2 == 1),
    )
    after = redrawn(tree, STATES, np.random.default_rng(0))
    assert set(np.asarray(after.leaves).ravel()) == {3.0}  # all was FALSE: the last leaf's
    np.testing.assert_array_equal(after.gains, np.full((4, 2, 3), 3.0))
    assert np.asarray(after.kept_gains).all()


def test_the_same_generator_draws_the_same():
    one, other = (redrawn(far_off(8), STATES, np.random.default_rng(5)) for _ in range(2))
    assert bool(eqx.tree_equal(one, other))
