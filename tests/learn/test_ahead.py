from dataclasses import replace

import jax
import numpy as np
import pytest

from crisptree import soft
from crisptree.learn import compiled
from crisptree.learn.ahead import compiled_ahead
from crisptree.learn.config import Learning
from crisptree.learn.creation import beginning_with
from crisptree.learn.moments import Moments
from crisptree.learn.session import segment_for

CONFIG = Learning(n_envs=4, n_steps=8, minibatches=2, steepness=(2.0, 9.0), compiling="quick")
CARRIED = Moments.empty((4,))


@pytest.fixture
def beginning():
    keys = jax.random.split(jax.random.key(1), 2)
    actors = [soft.AxisTree.random(soft.balanced(3), 4, 2, key=key) for key in keys]
    return beginning_with(actors, 4, CONFIG, 9, key=jax.random.key(2), observations=CARRIED)


def test_one_program_serves_and_ends_with_the_same_bytes(beginning, monkeypatch):
    traced = []
    collect = compiled.collect
    monkeypatch.setattr(compiled, "collect", lambda *args: traced.append(1) or collect(*args))
    most = 5  # no other test has asked for this program
    plain = segment_for("CartPole-v1", CONFIG, 2, 0, most)
    ahead = compiled_ahead(plain, "CartPole-v1", CONFIG, most, beginning.shapes())
    before = len(traced)
    one, log = ahead(beginning.agents(), 3)
    assert len(traced) == before == 1
    other, expected = segment_for("CartPole-v1", CONFIG, 2, 0, most)(beginning.agents(), 3)
    assert log["value_loss"].shape == (3, 2)
    np.testing.assert_array_equal(log["value_loss"], expected["value_loss"])
    for a, b in zip(jax.tree.leaves(one.actor), jax.tree.leaves(other.actor), strict=True):
        np.testing.assert_array_equal(a, b)


def test_quick_programs_learn_the_same(beginning):
    ends = []
    for compiling in ("quick", "thorough"):
        config = replace(CONFIG, compiling=compiling)
        agents, _ = segment_for("CartPole-v1", config, 2, 0, 4)(beginning.agents(), 4)
        ends.append(np.asarray(agents.actor.comparators))
    np.testing.assert_allclose(*ends, rtol=1e-4)
