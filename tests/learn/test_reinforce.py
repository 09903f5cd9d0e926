"""REINFORCE (Eq. 6) on a process small enough to enumerate."""

import functools
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probe_envs import ENDS, MOVES, REWARDS, SEEN, START, ThreeStates

from crisptree.learn import reinforce
from crisptree.learn.collect import collect, fresh_envs
from crisptree.learn.config import ReinforceConfig
from crisptree.learn.trajectory import generalized_advantages, masked_mean
from crisptree.soft import SoftTree, balanced

GAMMA, HORIZON = 0.8, 3


@pytest.fixture(scope="module")
def tree() -> SoftTree:
    return SoftTree.random(balanced(4), 3, 2, key=jax.random.key(0))


@pytest.fixture(scope="module")
def policy(tree) -> np.ndarray:
    """π(s, a) of every state and action."""
    return np.exp(np.asarray(jax.vmap(tree.log_policy)(jnp.asarray(SEEN)), np.float64))


def expected_update(tree: SoftTree, policy: np.ndarray, gamma: float) -> np.ndarray:
    """Σ_t Σ_s d_t(s) Σ_a Q_t(s, a) ∇π(s, a): the policy gradient theorem, by dynamic programming.

    d_t(s) is the chance to be alive in s at time t, Q_t the worth of an action taken then.
    """
    jacobian = jax.jacrev(lambda t: jnp.exp(jax.vmap(t.log_policy)(jnp.asarray(SEEN))))(tree)
    jacobian = np.concatenate(
        [np.reshape(leaf, (3, 2, -1)) for leaf in jax.tree.leaves(jacobian)], 2
    )
    worth = [np.zeros(3)]
    for _ in range(HORIZON):
        worth.append((policy * quality(worth[-1], gamma)).sum(1))
    update, alive = np.zeros(jacobian.shape[2]), START.astype(np.float64)
    for time in range(HORIZON):
        q = quality(worth[HORIZON - 1 - time], gamma)
        update = update + np.einsum("s,sa,sap->p", alive, q, jacobian)
        alive = np.einsum("s,sa,sa,sat->t", alive, policy, 1 - ENDS, MOVES)
    return update


def quality(worth_of_next: np.ndarray, gamma: float) -> np.ndarray:
    return REWARDS + gamma * (1 - ENDS) * (MOVES @ worth_of_next)


def every_episode(policy: np.ndarray) -> tuple[np.ndarray, ...]:
    """All episodes as arrays (time, episode): states, actions, whether alive, and their chances.

    An episode that has ended is followed by rows that are not alive.
    """
    ways, chances = [], []
    moves = list(itertools.product(range(2), [*range(3), None]))  # an action, and where it leads
    for start, first, second, last in itertools.product(range(3), moves, moves, range(2)):
        chance, at, way = START[start], start, []
        for action, following in (first, second):
            if at is None:
                chance = 0 if (action, following) != (0, None) else chance  # one padding an end
                way.append((0, 0, False))
                continue
            way.append((at, action, True))
            ended = ENDS[at, action]
            chance *= policy[at, action]
            chance *= ended if following is None else (1 - ended) * MOVES[at, action, following]
            at = following
        if at is None:
            chance = 0 if last else chance
            way.append((0, 0, False))
        else:
            chance *= policy[at, last]
            way.append((at, last, True))
        if chance > 0:
            ways.append(way)
            chances.append(chance)
    state, action, alive = np.moveaxis(np.array(ways), -1, 0)
    return state.T, action.T, alive.T.astype(bool), np.array(chances)


@functools.partial(jax.jit, static_argnames="gamma")
def mean_update(tree, state, action, reward, ends, kept, weight, values, *, gamma: float):
    """Minus the gradient of the loss, over rows weighted so as to be a mean over episodes."""
    value, reached = values[state], values[jnp.roll(state, -1, 0)]
    advantage = generalized_advantages(reward, value, reached, ends, ends, gamma, 1.0)
    weighted = (advantage * weight * kept.sum()).ravel()

    def loss(tree):
        log_policy = jax.vmap(tree.log_policy)(jnp.asarray(SEEN)[state.ravel()])
        taken = jnp.take_along_axis(log_policy, action.reshape(-1, 1), 1)[:, 0]
        return -masked_mean(reinforce.objective(taken, taken, weighted), kept.ravel())

    gradient = jax.tree.leaves(eqx.filter_grad(loss)(tree))
    return -jnp.concatenate([leaf.ravel() for leaf in gradient])


def test_all_episodes_are_there(policy):
    state, action, alive, chance = every_episode(policy)
    assert chance.sum() == pytest.approx(1, abs=1e-6)
    episodes = np.concatenate([state, action, alive])
    assert len(np.unique(episodes, axis=1).T) == len(chance) > 100


@pytest.mark.parametrize("gamma", [GAMMA, 1.0])
def test_the_mean_over_all_episodes_is_the_expectation(tree, policy, gamma):
    """Returns to go, with or without a baseline: a baseline shifts no expectation."""
    state, action, alive, chance = every_episode(policy)
    ends = ~np.roll(alive, -1, 0) | (np.arange(HORIZON)[:, None] == HORIZON - 1)
    weight = np.broadcast_to(chance, alive.shape).astype(np.float32)
    reward = np.where(alive, REWARDS[state, action], 0).astype(np.float32)
    expected = expected_update(tree, policy, gamma)
    assert np.abs(expected).max() > 0.05
    for values in ([0.0, 0.0, 0.0], [3.0, -1.0, 0.5]):
        update = mean_update(
            tree, state, action, reward, ends, alive, weight, jnp.array(values), gamma=gamma
        )
        np.testing.assert_allclose(update, expected, rtol=1e-4, atol=1e-6)


def test_the_mean_over_sampled_episodes_comes_to_the_expectation(tree, policy):
    """Through the collection that training uses: 20,000 episodes, in ten parts for an error bar."""
    env, n = ThreeStates(), 20_000
    config = ReinforceConfig(n_envs=n, n_steps=HORIZON, gamma=GAMMA)
    state = reinforce.init(tree, 3, config, 1, key=jax.random.key(3))
    envs = fresh_envs(env, n, jax.random.key(4))
    _, seen = eqx.filter_jit(collect)(state, envs, env, config)
    ends = np.asarray(seen.terminated)
    first = np.cumsum(ends, 0) - ends == 0  # the first episode; a second one may not be whole
    state = np.argmax((np.asarray(seen.observation)[:, :, None] == SEEN).all(-1), -1)
    weight = np.full((HORIZON, n), 10 / n, np.float32)
    in_parts = [
        np.asarray(part).reshape(HORIZON, 10, -1)
        for part in (state, seen.action, seen.reward, ends, first, weight)
    ]
    parts = [
        mean_update(tree, *[part[:, i] for part in in_parts], values=jnp.zeros(3), gamma=GAMMA)
        for i in range(10)
    ]
    mean, error = np.mean(parts, 0), np.std(parts, 0, ddof=1) / np.sqrt(10)
    expected = expected_update(tree, policy, GAMMA)
    assert error.max() < 0.2 * np.abs(expected).max()
    assert (np.abs(mean - expected) < 4.5 * error + 1e-6).all()
