from dataclasses import replace

import jax
import numpy as np
import pytest

from crisptree import soft
from crisptree.learn import compiled
from crisptree.learn.ahead import compiled_ahead
from crisptree.learn.config import Learning
from crisptree.learn.creation import create_all, random_axis_trees, shapes_of_all
from crisptree.learn.moments import Moments
from crisptree.learn.session import segment_for

CONFIG = Learning(n_envs=4, n_steps=8, minibatches=2, steepness=(2.0, 9.0), compiling="quick")
CARRIED = Moments.empty((4,))


@pytest.fixture
def actors():
    return random_axis_trees(2, soft.balanced(3), 4, 2, CONFIG, key=jax.random.key(1))


def created(actors):
    key = jax.random.key(2)
    return create_all(actors, 4, CONFIG, 9, key=key, observations=CARRIED)


def test_shapes_are_those_of_the_agents(actors):
    shapes, agents = shapes_of_all(actors, 4, CONFIG, None, CARRIED), created(actors)
    assert jax.tree.structure(shapes) == jax.tree.structure(agents)
    for shape, leaf in zip(jax.tree.leaves(shapes), jax.tree.leaves(agents), strict=True):
        assert (shape.shape, shape.dtype) == (leaf.shape, leaf.dtype)


def test_one_program_serves_and_ends_with_the_same_bytes(actors, monkeypatch):
    traced = []
    collect = compiled.collect
    monkeypatch.setattr(compiled, "collect", lambda *args: traced.append(1) or collect(*args))
    most = 5  # no other test has asked for this program
    plain = segment_for("CartPole-v1", CONFIG, 2, 0, most)
    shapes = shapes_of_all(actors, 4, CONFIG, None, CARRIED)
    ahead = compiled_ahead(plain, "CartPole-v1", CONFIG, most, shapes)
    before = len(traced)
    one, log = ahead(created(actors), 3)
    assert len(traced) == before == 1
    other, expected = segment_for("CartPole-v1", CONFIG, 2, 0, most)(created(actors), 3)
    assert log["value_loss"].shape == (3, 2)
    np.testing.assert_array_equal(log["value_loss"], expected["value_loss"])
    for a, b in zip(jax.tree.leaves(one.actor), jax.tree.leaves(other.actor), strict=True):
        np.testing.assert_array_equal(a, b)


def test_quick_programs_learn_the_same(actors):
    ends = []
    for compiling in ("quick", "thorough"):
        config = replace(CONFIG, compiling=compiling)
        agents, _ = segment_for("CartPole-v1", config, 2, 0, 4)(created(actors), 4)
        ends.append(np.asarray(agents.actor.comparators))
    np.testing.assert_allclose(*ends, rtol=1e-4)
