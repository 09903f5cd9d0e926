import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_shapes import shapes, softmax, topology_of

from crisptree.soft.paths import SMALLEST_PROBABILITY, leaf_log_probabilities, mix_distributions
from crisptree.soft.topology import Topology, balanced, rule_list

MANY = 64
LAST_RULE_FIRST = Topology((*range(1, 32), ~0), tuple(~leaf for leaf in range(32, 0, -1)))

SEEDS = st.integers(0, 2**32 - 1)


def extreme_margins(n_nodes: int, seed: int) -> np.ndarray:
    """Every order of magnitude from 1e-4 to 1e4, either sign, and a few zeros."""
    random = np.random.default_rng(seed)
    size = 10 ** random.uniform(-4, 4, n_nodes)
    return (size * random.choice([-1, 1, 0], n_nodes, p=[0.45, 0.45, 0.1])).astype(np.float32)


def sums_of_logarithms(topology: Topology, margins: np.ndarray) -> np.ndarray:
    """log P(leaf) in float64, walked from the root."""
    log_leaf = np.empty(topology.n_leaves)
    waiting = [(0, 0.0)]
    while waiting:
        at, so_far = waiting.pop()
        if at < 0:
            log_leaf[~at] = so_far
        else:
            margin = float(margins[at])
            waiting.append((topology.if_true[at], so_far - np.logaddexp(0, -margin)))
            waiting.append((topology.if_false[at], so_far - np.logaddexp(0, margin)))
    return log_leaf


def check_at_extremes(topology: Topology, seed: int) -> None:
    margins = extreme_margins(topology.n_nodes, seed)
    log_leaf = leaf_log_probabilities(jnp.asarray(margins), topology)
    np.testing.assert_allclose(
        log_leaf, sums_of_logarithms(topology, margins), rtol=2e-6, atol=5e-6
    )
    assert float(jnp.exp(log_leaf).sum()) == pytest.approx(1, abs=5e-6)

    logits = jnp.asarray(np.random.default_rng(seed).normal(size=(topology.n_leaves, 3)))

    def loss(margins, logits):
        log_policy = mix_distributions(leaf_log_probabilities(margins, topology), logits)
        return log_policy @ jnp.array([1.0, -2.0, 3.0])

    for gradient in jax.grad(loss, (0, 1))(jnp.asarray(margins), 50 * logits):
        assert jnp.isfinite(gradient).all()


@settings(max_examples=15)
@given(shapes(MANY), SEEDS)
def test_any_shape_at_extremes(shape, seed):
    check_at_extremes(topology_of(shape), seed)


@pytest.mark.parametrize(
    "topology", [balanced(64), rule_list(32), LAST_RULE_FIRST], ids=["tree", "list", "mirrored"]
)
@pytest.mark.parametrize("seed", range(5))
def test_the_deepest_shapes_at_extremes(topology, seed):
    check_at_extremes(topology, seed)


@pytest.mark.parametrize("margin", [-1e4, 1e4, 9876.543, -1234.567])
def test_certain_decisions_are_certain(margin):
    """All nodes one way: one leaf has probability 1 to the last bit, though its path is long."""
    for topology in (rule_list(32), LAST_RULE_FIRST, balanced(64)):
        margins = jnp.full(topology.n_nodes, margin, jnp.float32)
        probabilities = np.exp(leaf_log_probabilities(margins, topology))
        assert sorted(probabilities)[-2:] == [0.0, 1.0]


@settings(max_examples=30)
@given(SEEDS, st.sampled_from([0.1, 3.0, 100.0]))
def test_a_mixture_is_the_average_of_the_leaves_distributions(seed, scale):
    """Eq. 14; the leaves are distributions first and mixed afterwards."""
    random = np.random.default_rng(seed)
    logits = (scale * random.normal(size=(7, 4))).astype(np.float32)
    weights = random.dirichlet(np.ones(7))
    log_policy = mix_distributions(jnp.asarray(np.log(weights), jnp.float32), jnp.asarray(logits))
    np.testing.assert_allclose(np.exp(log_policy), weights @ softmax(logits), rtol=2e-5, atol=1e-30)
    assert float(jnp.exp(log_policy).sum()) == pytest.approx(1, abs=1e-6)


def test_an_impossible_action_has_a_finite_logarithm():
    logits = jnp.array([[1e6, 0.0], [1e6, 0.0]])
    log_policy = mix_distributions(jnp.log(jnp.array([0.5, 0.5])), logits)
    np.testing.assert_allclose(log_policy, [0, np.log(SMALLEST_PROBABILITY)], rtol=1e-6)
