from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cartpole_trees import CLUMSY, GOOD, SPIN, cartpole
from probe_envs import Lifeboat, ThreeStates

from crisptree.crisp import CrispTree
from crisptree.crispen.compiled_play import _room, play_compiled
from crisptree.envs.cartpole import CartPole
from crisptree.envs.score import play

THREE = CrispTree.from_nested((1, 0.0, (0, 0.5, 0, 1), 1), ("a", "b", "c"), ("0", "1"))


@lru_cache
def stepping(env):
    return jax.jit(env.reset), jax.jit(env.step)


def plain_return(tree: CrispTree, env, seed: int) -> float:
    """One episode as anyone would write it, with the same keys."""
    key = jax.random.key(seed)
    reset, step = stepping(env)
    state, observation = reset(jax.random.fold_in(key, 0))
    total, time, over = 0.0, 0, False
    while not over:
        action, _ = tree.predict(np.asarray(observation))
        at = step(jax.random.fold_in(key, time + 1), state, jnp.asarray(action, jnp.int32))
        state, observation = at.state, at.observation
        total += float(at.reward)
        time += 1
        over = bool(at.terminated) or bool(at.truncated)
    return total


def test_cartpole_is_that_of_a_plain_loop():
    returns = play_compiled([CLUMSY], CartPole(), 2**29 + 7, 12)
    assert returns.shape == (1, 12)
    assert returns[0].tolist() == [
        plain_return(CLUMSY, CartPole(), 2**29 + 7 + i) for i in range(12)
    ]
    assert len(set(returns[0].tolist())) > 4


def test_random_steps_are_those_of_a_plain_loop():
    """An environment that draws at every step, with rewards that float32 adds exactly."""
    returns = play_compiled([THREE], ThreeStates(), 100, 40)
    expected = [plain_return(THREE, ThreeStates(), 100 + i) for i in range(40)]
    assert returns[0].tolist() == expected
    assert len(set(expected)) > 4


def chain(n_rules: int) -> CrispTree:
    """A list of which only the last rule ever fires, at a spin of its own."""
    nested: object = (SPIN, 0.05 * n_rules, 1, 0) if n_rules else 0
    for i in range(1, n_rules):
        nested = (SPIN, 100.0 + i, 0, nested)
    return cartpole(nested)


def test_however_many_trees_and_episodes_everyone_has_its_own():
    """More trees than one program takes, more pairs than one block, sizes of every kind."""
    trees = [chain(i % 8) for i in range(33)] + [chain(20), CLUMSY]
    together = play_compiled(trees, CartPole(), 5, 40)
    assert together.shape == (35, 40)
    for i in (0, 1, 5, 33, 34):
        alone = play_compiled([trees[i]], CartPole(), 5, 40)[0]
        # Programs of another size may round otherwise, and a falling pole makes much of that.
        assert (together[i] == alone).mean() >= 0.7
        assert abs(together[i].mean() - alone.mean()) < 3
    np.testing.assert_array_equal(together[:8], together[8:16])  # the same trees, the same episodes
    assert len(np.unique(together[:8], axis=0)) == 8


def test_more_episodes_begin_with_the_same_ones():
    some, more = (play_compiled([CLUMSY], CartPole(), 5, n) for n in (7, 1500))
    assert some[0].tolist() == more[0, :7].tolist()
    assert more[0, 1024:1030].tolist() == play_compiled([CLUMSY], CartPole(), 1029, 6)[0].tolist()


def test_a_lone_leaf_is_a_tree_too():
    leaf = cartpole(1)
    assert play_compiled([leaf], CartPole(), 0, 3)[0].tolist() == [
        plain_return(leaf, CartPole(), i) for i in range(3)
    ]


def test_a_good_tree_balances_to_the_end():
    assert (play_compiled([GOOD], CartPole(), 0, 100) == 500).all()
    assert (play_compiled([GOOD], CartPole(max_steps=60), 0, 5) == 60).all()


def test_a_team_earns_the_mean_of_those_alive():
    """Agents die with their steps 1, 3 and 2: rewards 10 i + t of those who saw time t begin."""
    leaf = CrispTree.leaf(0, ("agent", "time", "number"), ("a", "b"))
    expected = (0 + 10 + 20) / 3 + (11 + 21) / 2 + 12
    assert play_compiled([leaf], Lifeboat(), 0, 2)[0].tolist() == [expected, expected]
    # the clock: the second step is the last
    expected = (0 + 10 + 20) / 3 + (11 + 21) / 2
    assert play_compiled([leaf], Lifeboat(max_steps=2), 0, 1)[0].tolist() == [expected]


def test_the_same_distribution_as_gymnasiums_own():
    ours = play_compiled([CLUMSY], CartPole(), 0, 400)[0]
    real = play(CLUMSY, "CartPole-v1", range(200))
    error = np.sqrt(ours.var() / 400 + real.var() / 200)
    assert abs(ours.mean() - real.mean()) < 3 * error
    # Kolmogorov–Smirnov at one in a thousand
    grid = np.unique(np.concatenate([ours, real]))
    ours_below, real_below = ((r[:, None] <= grid).mean(0) for r in (ours, real))
    assert np.abs(ours_below - real_below).max() < 1.95 * np.sqrt(1 / 400 + 1 / 200)


@pytest.mark.parametrize(
    ("n", "room"), [(0, 4), (4, 4), (5, 16), (16, 16), (17, 64), (64, 64), (65, 256), (257, 1024)]
)
def test_rooms(n, room):
    assert _room(n) == room
