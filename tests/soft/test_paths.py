import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_shapes import shapes, topology_of

from crisptree.soft.paths import Paths, leaf_log_probabilities, room_for
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
    log_leaf = leaf_log_probabilities(jnp.asarray(margins), Paths.of(topology))
    np.testing.assert_allclose(
        log_leaf, sums_of_logarithms(topology, margins), rtol=2e-6, atol=5e-6
    )
    assert float(jnp.exp(log_leaf).sum()) == pytest.approx(1, abs=5e-6)

    logits = jnp.asarray(np.random.default_rng(seed).normal(size=(topology.n_leaves, 3)))

    def loss(margins, logits):
        likely = jax.nn.softmax(logits).T @ jnp.exp(
            leaf_log_probabilities(margins, Paths.of(topology))
        )
        return jnp.log(jnp.maximum(likely, 1e-30)) @ jnp.array([1.0, -2.0, 3.0])

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
        probabilities = np.exp(leaf_log_probabilities(margins, Paths.of(topology)))
        assert sorted(probabilities)[-2:] == [0.0, 1.0]


def test_a_lone_leaf_is_certain():
    log_leaf = leaf_log_probabilities(jnp.zeros((0, 5)), Paths.of(balanced(1)))
    assert log_leaf.shape == (1, 5)
    assert (log_leaf == 0).all()


@given(shapes(12), st.integers(0, 5))
def test_paths_tell_their_topology_and_leaves_to_spare_are_never_reached(shape, spare):
    topology = topology_of(shape)
    paths = Paths.of(topology, topology.n_leaves + spare)
    assert paths.topology == topology
    margins = np.random.default_rng(0).normal(size=(topology.n_nodes + spare, 4))
    with_room = np.exp(leaf_log_probabilities(jnp.asarray(margins), paths))
    without = np.exp(
        leaf_log_probabilities(jnp.asarray(margins[: topology.n_nodes]), Paths.of(topology))
    )
    np.testing.assert_allclose(with_room[: topology.n_leaves], without, rtol=1e-5)
    assert (with_room[topology.n_leaves :] == 0).all()


def test_a_few_sizes_serve_all():
    assert [room_for(n) for n in (2, 8, 9, 13, 16, 17, 33, 49)] == [8, 8, 12, 16, 16, 24, 48, 64]
