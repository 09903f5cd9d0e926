import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.learn.agent import annealed, create, optimiser, scheduled
from crisptree.learn.config import Learning
from crisptree.learn.moments import Moments
from crisptree.learn.rates import rates_of
from crisptree.soft import AxisTree, SoftTree, balanced, critic


@pytest.fixture(scope="module")
def agent():
    tree = AxisTree.random(balanced(4), 3, 2, key=jax.random.key(0))
    return create(tree, 3, Learning(), 20, key=jax.random.key(1))


def after(agent, update: int):
    return eqx.tree_at(lambda a: a.update, agent, jnp.asarray(update))


def test_progress(agent):
    assert [float(after(agent, n).progress) for n in (0, 5, 20, 30)] == [0, 0.25, 1, 1]


def test_steepness_grows_geometrically_and_stays(agent):
    rates = rates_of(Learning(steepness=(2.0, 32.0), anneal_until=0.8))
    updates = (0, 4, 8, 12, 16, 20)
    reached = [float(annealed(after(agent, n), rates).actor.steepness) for n in updates]
    np.testing.assert_allclose(reached, [2, 4, 8, 16, 32, 32], rtol=1e-5)


def test_without_a_schedule_the_steepness_is_left_alone(agent):
    assert float(annealed(after(agent, 10), rates_of(Learning())).actor.steepness) == 2.0


def test_step_sizes_fall_linearly_and_leaves_have_their_own(agent):
    directions = eqx.filter(
        jax.tree.map(lambda leaf: jnp.ones_like(leaf), agent.actor), eqx.is_inexact_array
    )
    for update, left in ((0, 1.0), (10, 0.6), (20, 0.2)):
        steps = scheduled(directions, 0.1, 3.0, 0.8, after(agent, update))
        np.testing.assert_allclose(steps.comparators, -0.1 * left, rtol=1e-6)
        np.testing.assert_allclose(steps.leaves, -0.3 * left, rtol=1e-6)


def test_a_critic_has_one_step_size(agent):
    directions = jax.tree.map(jnp.ones_like, agent.critic)
    for step in jax.tree.leaves(scheduled(directions, 0.1, None, 0.95, agent)):
        np.testing.assert_allclose(step, -0.1, rtol=1e-6)


def test_the_optimisers_by_hand():
    """One step from rest. A gradient of length 5 is first shortened to ½: (0.3, 0.4)."""
    gradient = jnp.array([3.0, 4.0])
    for name, expected in (
        ("rmsprop", np.array([0.3, 0.4]) / np.sqrt(0.01 * np.array([0.09, 0.16]) + 1e-8)),
        ("adam", np.array([0.3, 0.4]) / (np.array([0.3, 0.4]) + 1e-5)),
    ):
        optimise = optimiser(Learning(optimiser=name), 0.5)
        direction, _ = optimise.update(gradient, optimise.init(jnp.zeros(2)))
        np.testing.assert_allclose(direction, expected, rtol=1e-5)


def test_policies_and_values_are_of_standardised_observations():
    tree = SoftTree.random(balanced(4), 3, 2, key=jax.random.key(0))
    moments = Moments(jnp.array([1.0, 2.0, 3.0]), jnp.array([4.0, 9.0, 16.0]), jnp.ones(()))
    values = critic(3, 4, key=jax.random.key(2))
    agent = create(
        tree, 3, Learning(), 1, key=jax.random.key(1), critic=values, observations=moments
    )
    raw = jnp.array([[3.0, -1.0, 7.0]])
    standard = jnp.array([1.0, -1.0, 1.0])
    np.testing.assert_allclose(agent.log_policy(raw)[0], tree.log_policy(standard), rtol=1e-5)
    np.testing.assert_allclose(agent.values(raw), values(standard), rtol=1e-5)
