import equinox as eqx
import jax
import numpy as np
import pytest

from crisptree import soft
from crisptree.learn.agent import create
from crisptree.learn.config import Learning
from crisptree.learn.creation import beginning_at_random, beginning_with
from crisptree.learn.stacks import pick

CONFIG = Learning(n_envs=4, n_steps=8, minibatches=2, steepness=(2.0, 9.0))
SHAPE = soft.balanced(3)


def at_random(seed: int = 7):
    return beginning_at_random(2, SHAPE, 4, 2, CONFIG, 9, seed=seed, numbers=(3, 5))


def given():
    trees = [soft.AxisTree.random(SHAPE, 4, 2, key=jax.random.key(i)) for i in range(2)]
    return beginning_with(trees, 4, CONFIG, 9, key=jax.random.key(2))


def numbers(agent) -> list[np.ndarray]:
    agent = eqx.tree_at(lambda a: a.key, agent, jax.random.key_data(agent.key))
    return [np.asarray(leaf) for leaf in jax.tree.leaves(eqx.filter(agent, eqx.is_array))]


@pytest.mark.parametrize("beginning", [at_random(), given()], ids=["at random", "given"])
def test_shapes_are_those_of_the_agents(beginning):
    shapes, agents = beginning.shapes(), beginning.agents()
    assert jax.tree.structure(shapes) == jax.tree.structure(agents)
    for shape, leaf in zip(jax.tree.leaves(shapes), jax.tree.leaves(agents), strict=True):
        assert (shape.shape, shape.dtype) == (leaf.shape, leaf.dtype)


@pytest.mark.parametrize("seed", [7, 2**32 - 1])
def test_drawn_together_each_is_what_it_is_alone(seed):
    agents, key = at_random(seed).agents(), jax.random.key(seed)
    for_trees, for_agents = (
        jax.random.split(jax.random.fold_in(key, number), 2) for number in (3, 5)
    )
    for i in range(2):
        tree = soft.AxisTree.random(SHAPE, 4, 2, key=for_trees[i])
        alone = create(tree, 4, CONFIG, 9, key=for_agents[i])
        for one, other in zip(numbers(pick(agents, i)), numbers(alone), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_actors_that_are_given_stay():
    agents = given().agents()
    for i in range(2):
        tree = soft.AxisTree.random(SHAPE, 4, 2, key=jax.random.key(i))
        np.testing.assert_array_equal(agents.actor.comparators[i], tree.comparators)
    assert agents.n_updates.tolist() == [9, 9]
