"""Whole episodes in one program, against the same episodes step by step."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_forest import KINDS, NAMES, F, random_tree

import crisptree.envs.compiled_rollout as compiled_rollout_module
from crisptree.crisp import CrispTree
from crisptree.envs.cartpole import CartPole
from crisptree.envs.compiled_rollout import BLOCK, MOST_TREES, compiled_rollout, padded
from crisptree.envs.functional import TimeStep
from crisptree.envs.functional_episodes import FunctionalEpisodes
from crisptree.envs.play import Play


@dataclass(frozen=True)
class Drift:
    """Features that wander and are pushed by the action; all kinds of actions."""

    kind: str
    n_agents: int = 1
    n_features: int = F

    @property
    def actions(self):
        return KINDS[self.kind]

    def reset(self, key) -> tuple[Any, Any]:
        at = jax.random.normal(key, (F,))
        return (at, jnp.int32(0)), at

    def step(self, key, state, action) -> TimeStep:
        at, time = state
        push = jnp.atleast_1d(action).astype(jnp.float32).sum() / 4
        at = 0.9 * at + 0.3 * jax.random.normal(key, (F,)) + push / 8
        time = time + 1
        return TimeStep((at, time), at, push, jnp.abs(at[0]) > 1.4, time >= 40)


def step_by_step(trees, env, seeds, limit):
    return Play(FunctionalEpisodes(env, 8), trees, seeds, limit).run()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_same_episodes_as_step_by_step(kind):
    rng = np.random.default_rng(1)
    trees = [random_tree(kind, depth, rng) for depth in (0, 2, 4)]
    env, seeds = Drift(kind), [3, 1, 4, 1, 5]
    returns, lengths, terminated, was_cut = compiled_rollout(trees, env, seeds, 30)
    slow = step_by_step(trees, env, seeds, 30)
    np.testing.assert_array_equal(lengths, slow.lengths)
    np.testing.assert_array_equal(terminated, slow.terminated)
    np.testing.assert_array_equal(was_cut, slow.was_cut)
    np.testing.assert_allclose(returns, slow.returns, rtol=1e-4, atol=1e-4)
    assert 0 < terminated.sum() < terminated.size
    assert (terminated | was_cut).all()
    assert (returns[:, 1] == returns[:, 3]).all()  # the same seed


def test_more_trees_and_episodes_than_one_call_takes():
    names = ("position", "velocity", "angle", "spin")
    trees = [
        CrispTree.from_nested(("angle", at / 100, 1, 0), names, ("left", "right"))
        for at in range(MOST_TREES + 3)
    ]
    seeds = range(BLOCK // 16)
    returns, *_ = compiled_rollout(trees, CartPole(), seeds, 500)
    assert returns.shape == (MOST_TREES + 3, BLOCK // 16)
    for at in (0, MOST_TREES + 2):
        alone, *_ = compiled_rollout([trees[at]], CartPole(), seeds, 500)
        np.testing.assert_array_equal(alone[0], returns[at])


def test_the_large_calls_of_an_accelerator_play_the_same_episodes(monkeypatch):
    names = ("position", "velocity", "angle", "spin")
    trees = [
        CrispTree.from_nested(("angle", at / 1000, 1, 0), names, ("left", "right"))
        for at in range(150)
    ]
    seeds = range(10)
    usual, *_ = compiled_rollout(trees, CartPole(), seeds, 100)
    monkeypatch.setattr(compiled_rollout_module, "is_accelerated", lambda: True)
    monkeypatch.setattr(compiled_rollout_module, "ACCELERATED_BLOCK", 2 * BLOCK)
    monkeypatch.setattr(compiled_rollout_module, "MOST_ACCELERATED_TREES", 128)
    large, *_ = compiled_rollout(trees, CartPole(), seeds, 100)
    np.testing.assert_array_equal(large, usual)


def test_a_threshold_between_two_float32_numbers_is_rounded_down():
    tree = CrispTree.from_nested(("x0", 0.1, 1, 0), NAMES, ("no", "yes"))
    threshold = padded(tree, 4, 0)[1]
    assert threshold.dtype == np.float32
    assert threshold[0] < 0.1
