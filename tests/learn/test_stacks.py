import equinox as eqx
import jax
import numpy as np
import pytest

from crisptree import soft
from crisptree.envs.cartpole import CartPole
from crisptree.learn.config import Learning
from crisptree.learn.creation import beginning_with
from crisptree.learn.session import compiled_segment
from crisptree.learn.stacks import apart, first, pick, stack, together

CONFIG = Learning(n_envs=4, n_steps=8, minibatches=2)


@pytest.fixture
def agents():
    trees = [soft.SoftTree.random(soft.balanced(3), 4, 2, key=jax.random.key(i)) for i in range(3)]
    return beginning_with(trees, 4, CONFIG, 9, key=jax.random.key(5)).agents()


def numbers(agents) -> list[np.ndarray]:
    agents = eqx.tree_at(lambda a: a.key, agents, jax.random.key_data(agents.key))
    return [np.asarray(leaf) for leaf in jax.tree.leaves(eqx.filter(agents, eqx.is_array))]


def same(one, other) -> None:
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for a, b in zip(numbers(one), numbers(other), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_apart_and_together_again(agents):
    parts = apart(agents)
    assert [len(part.update) for part in parts] == [1, 1, 1]
    same(together(parts), agents)
    for index, part in enumerate(parts):
        same(pick(part, 0), pick(agents, index))
    same(stack([pick(part, 0) for part in parts]), agents)


def test_one_alone_is_left_alone(agents):
    one = apart(agents)[1]
    assert apart(one) == [one]
    assert together([one]) is one


def test_a_leaf_that_is_no_array_stays(agents):
    assert all(part.critic.activation is agents.critic.activation for part in apart(agents))


def test_all_seeds_keep_step(agents):
    assert first(agents.update) == 0 and first(agents.n_updates) == 9


def test_a_seed_learns_the_same_among_others(agents):
    """To the last bit: on a CPU seeds are learned by one program, each on its own."""
    every, log = compiled_segment(CartPole(), CONFIG, 3)(agents, 3)
    alone, its = compiled_segment(CartPole(), CONFIG, 3)(apart(agents)[2], 3)
    same(apart(every)[2], alone)
    np.testing.assert_array_equal(log["value_loss"][:, 2:], its["value_loss"])
    assert log["value_loss"].shape == (3, 3)


def test_a_segment_goes_on_from_agents_that_were_changed_in_between(agents):
    segment = compiled_segment(CartPole(), CONFIG, 3)
    agents, _ = segment(agents, 1)
    blank = eqx.tree_at(lambda a: a.actor.leaves, agents, 0 * agents.actor.leaves)
    changed, _ = segment(blank, 0)
    np.testing.assert_array_equal(changed.actor.leaves, np.zeros_like(agents.actor.leaves))
