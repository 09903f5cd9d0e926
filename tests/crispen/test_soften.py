import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_shapes import shapes
from tree_strategies import ACTIONS, FEATURES, LEAVES, one_of_every_cell, tree_of

from crisptree.crispen.harden import harden
from crisptree.crispen.soften import soften
from crisptree.envs.spaces import Task
from crisptree.learn.moments import Moments

TASK = Task("Some-v0", 3, 3, FEATURES, ACTIONS)
PLAIN = Moments(jnp.zeros(3), jnp.ones(3), jnp.ones(()))
RAW = Moments(jnp.array([3.0, -0.02, 500.0]), jnp.array([4.0, 1e-6, 1e4]), jnp.ones(()))


def inner(children: st.SearchStrategy) -> st.SearchStrategy:
    thresholds = st.floats(-5, 5, width=32, allow_subnormal=False)
    return st.tuples(st.integers(0, 2), thresholds, children, children)


SPLITS = inner(st.recursive(LEAVES, inner, max_leaves=12))


@given(SPLITS)
def test_there_and_back_is_the_same_policy_everywhere(nested):
    """Without standardisation no threshold is rounded: every cell keeps its action."""
    tree = tree_of(nested)
    back = harden(soften(tree, PLAIN), PLAIN, TASK)
    cells = one_of_every_cell(tree)
    assert back.predict(cells)[0].tolist() == tree.predict(cells)[0].tolist()
    assert (back.n_nodes, back.depth) == (tree.n_nodes, tree.depth)


@settings(max_examples=50)
@given(SPLITS, st.integers(0, 2**32 - 1))
def test_there_and_back_through_standardised_units(nested, seed):
    """The same actions off the thresholds, which come back but for rounding."""
    tree = tree_of(nested)
    raw = np.random.default_rng(seed).uniform(-6, 6, size=(300, 3)).astype(np.float32)
    thresholds = tree.threshold[tree.feature >= 0]
    # φσ + m is rounded in units of the larger of m and t: one part in 2^22 of 500 at most
    off = (np.abs(raw[:, :, None] - thresholds) > 3e-4).all((1, 2))
    assert off.sum() > 250
    back = harden(soften(tree, RAW), RAW, TASK)
    assert back.predict(raw[off])[0].tolist() == tree.predict(raw[off])[0].tolist()


def filled(shape, random: np.random.Generator):
    """Any features, thresholds and actions for a shape."""
    if shape is None:
        return int(random.integers(3))
    sides = (filled(side, random) for side in shape)
    return int(random.integers(3)), float(random.uniform(-5, 5)), *sides


@settings(max_examples=25)
@given(shapes(6), st.integers(0, 2**32 - 1))
def test_a_soft_tree_prefers_the_crisp_tree_s_actions(shape, seed):
    tree = tree_of(filled(shape, np.random.default_rng([seed, 1])))
    soft = soften(tree, PLAIN, steepness=1e6, leaf_logit=2.0)
    states = np.random.default_rng(seed).uniform(-6, 6, size=(100, 3)).astype(np.float32)
    off = (np.abs(states[:, :, None] - tree.threshold[tree.feature >= 0]) > 1e-4).all((1, 2))
    assert off.sum() > 90
    policy = np.exp(jax.vmap(soft.log_policy)(jnp.asarray(states)))[off]
    assert policy.argmax(1).tolist() == tree.predict(states[off])[0].tolist()
    # one logit of 2 among zeros
    np.testing.assert_allclose(policy.max(1), np.exp(2) / (np.exp(2) + 2), rtol=1e-5)


def test_units_and_steepness():
    soft = soften(tree_of((0, 7.0, (1, -0.02, 0, 1), 2)), RAW, steepness=5.0)
    np.testing.assert_allclose(soft.comparators, [2.0, 0.0], atol=1e-6)
    assert soft.features.tolist() == [0, 1]
    assert float(soft.steepness) == 5.0
