import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.learn.agent import create
from crisptree.learn.config import Learning
from crisptree.learn.improve import improve
from crisptree.learn.rates import rates_of
from crisptree.learn.rollout import Rollout, sample_actions
from crisptree.soft import SoftTree, balanced

T, R, F = 8, 6, 3
CONFIGS = {
    "ppo": Learning(n_envs=R, n_steps=T, epochs=2, minibatches=2),
    "reinforce": Learning(algorithm="reinforce", n_envs=R, n_steps=T, minibatches=1),
}


@functools.cache
def fresh(algorithm: str):
    """A new agent and the compiled update of one algorithm."""
    config = CONFIGS[algorithm]
    tree = SoftTree.random(balanced(4), F, 2, key=jax.random.key(0))
    agent = create(tree, F, config, 10, key=jax.random.key(1))
    return agent, eqx.filter_jit(
        lambda agent, rollout: improve(agent, rollout, config, rates_of(config))
    )


def any_rollout(agent, seed: int = 0) -> Rollout:
    """Rows that end, and that do not act for a while after some of their ends."""
    random = np.random.default_rng(seed)
    observation, next_observation = random.normal(2, 3, size=(2, T, R, F)).astype(np.float32)
    done = random.uniform(size=(T, R)) < 0.3
    mask = np.ones((T, R), bool)
    for t in range(1, T):
        mask[t] = ~done[t - 1] | (random.uniform(size=R) < 0.3)
    done |= ~mask
    log_policy = agent.log_policy(jnp.asarray(observation.reshape(-1, F)))
    uniform = jnp.asarray(random.uniform(size=T * R), jnp.float32)
    action, log_probability = sample_actions(log_policy, uniform)
    parts = Rollout(
        observation=observation,
        action=np.asarray(action).reshape(T, R),
        log_probability=np.asarray(log_probability).reshape(T, R),
        reward=random.normal(size=(T, R)).astype(np.float32),
        running_return=random.normal(size=(T, R)).astype(np.float32),
        next_observation=next_observation,
        terminated=done & (random.uniform(size=(T, R)) < 0.5),
        done=done,
        mask=mask,
    )
    return Rollout(*map(jnp.asarray, parts))


def with_other_masked_rows(rollout: Rollout) -> Rollout:
    """The same, but for what the rows that did not act hold."""
    random = np.random.default_rng(99)
    kept = np.asarray(rollout.mask)

    def other(part, noise):
        return jnp.where(kept.reshape(T, R, *(1,) * (part.ndim - 2)), part, noise)

    return rollout._replace(
        observation=other(rollout.observation, random.normal(0, 1e4, (T, R, F))),
        action=other(rollout.action, 1 - rollout.action),
        log_probability=other(rollout.log_probability, random.uniform(-20, 0, (T, R))),
        reward=other(rollout.reward, random.normal(0, 1e4, (T, R))),
        running_return=other(rollout.running_return, random.normal(0, 1e4, (T, R))),
        next_observation=other(rollout.next_observation, random.normal(0, 1e4, (T, R, F))),
        terminated=other(rollout.terminated, ~rollout.terminated),
    )


def same_bytes(one, other) -> bool:
    as_numbers = lambda leaf: (
        jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf
    )
    return all(
        np.asarray(as_numbers(a)).tobytes() == np.asarray(as_numbers(b)).tobytes()
        for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    )


@pytest.mark.parametrize("algorithm", CONFIGS)
def test_rows_that_did_not_act_change_nothing(algorithm):
    """Parameters, optimisers, moments and metrics, bit for bit; and nothing at all without any."""
    agent, update = fresh(algorithm)
    rollout = any_rollout(agent)
    other = with_other_masked_rows(rollout)
    assert not same_bytes(rollout, other)
    assert 5 < (~rollout.mask).sum() < T * R / 2
    assert same_bytes(update(agent, rollout), update(agent, other))

    idle, metrics = update(agent, rollout._replace(mask=jnp.zeros((T, R), bool)))
    assert same_bytes((idle.actor, idle.critic), (agent.actor, agent.critic))
    assert same_bytes((idle.observations, idle.returns), (agent.observations, agent.returns))
    assert all(np.isfinite(value) for value in metrics.values())


def test_rows_that_did_act_change_something():
    agent, update = fresh("reinforce")
    rollout = any_rollout(agent)
    improved, _ = update(agent, rollout)
    t, row = np.argwhere(rollout.mask)[3]
    more = rollout._replace(reward=rollout.reward.at[t, row].add(1.0))
    assert not same_bytes(update(agent, more)[0].actor, improved.actor)
    assert not same_bytes(improved.actor, agent.actor)
    assert not same_bytes(improved.critic, agent.critic)


def test_moments_are_of_the_rows_that_acted():
    agent, update = fresh("reinforce")
    rollout = any_rollout(agent)
    improved, _ = update(agent, rollout)
    rows = np.asarray(rollout.observation)[np.asarray(rollout.mask)]
    np.testing.assert_allclose(improved.observations.mean, rows.mean(0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(improved.observations.variance, rows.var(0), rtol=1e-4)
    returns = np.asarray(rollout.running_return)[np.asarray(rollout.mask)]
    np.testing.assert_allclose(improved.returns.variance, returns.var(), rtol=1e-4)


def test_old_and_new_probabilities_are_of_the_same_standardisation():
    """The first gradient step compares the policy with itself, once the moments have moved too."""
    agent, update = fresh("reinforce")
    for seed in range(3):
        agent, metrics = update(agent, any_rollout(agent, seed))
        assert float(metrics["kl"]) == pytest.approx(0, abs=1e-6)


def test_no_key_is_used_twice():
    """The next rollout, its shuffles and the next segment's openings draw afresh."""
    agent, update = fresh("reinforce")
    keys = [agent.key]
    for _ in range(2):
        agent, _ = update(agent, any_rollout(agent))
        keys.append(agent.key)
    drawn = []
    for key in keys:
        rollout = jax.random.fold_in(key, 0)
        used = [
            rollout,
            *jax.random.split(rollout, 3),
            *(jax.random.fold_in(key, i) for i in (1, 2)),
        ]
        drawn += [tuple(jax.random.key_data(k).tolist()) for k in (key, *used)]
    assert len(set(drawn)) == len(drawn)


def test_updates_are_counted():
    agent, update = fresh("reinforce")
    improved, _ = update(agent, any_rollout(agent))
    assert int(update(improved, any_rollout(agent, 1))[0].update) == 2
