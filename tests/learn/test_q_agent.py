import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.learn.q_agent import after_update, create, optimiser
from crisptree.learn.q_config import QLearning
from crisptree.learn.stacks import stack
from crisptree.soft import MLP, SoftTree, balanced

CONFIG = QLearning(epsilon=0.8, epsilon_end=0.2, explore_until=0.5)


def agent(config: QLearning = CONFIG, n_updates: int = 10, n_actions: int = 3):
    tree = SoftTree.random(balanced(4), 2, n_actions, key=jax.random.key(0))
    return create(tree, 2, config, n_updates, key=jax.random.key(1))


def test_the_policy_is_epsilon_greedy():
    observations = jax.random.normal(jax.random.key(2), (50, 2))
    policy = np.exp(agent().log_policy(observations))
    best = np.asarray(agent().q_values(observations)).argmax(1)
    np.testing.assert_allclose(policy[np.arange(50), best], 0.2 + 0.8 / 3, rtol=1e-5)
    np.testing.assert_allclose(policy.sum(1), 1, rtol=1e-5)
    np.testing.assert_allclose(np.sort(policy, 1)[:, :2], 0.8 / 3, rtol=1e-5)
    assert len(set(best)) > 1


def test_epsilon_falls_linearly_and_then_stays():
    now, seen = agent(), []
    for _ in range(8):
        seen.append(float(now.epsilon))
        now = after_update(now, CONFIG)
    np.testing.assert_allclose(seen, [0.8, 0.68, 0.56, 0.44, 0.32, 0.2, 0.2, 0.2], rtol=1e-5)


def test_several_agents_count_as_one_does():
    both = after_update(stack([agent(), agent()]), CONFIG)
    assert both.update.tolist() == [1, 1]
    np.testing.assert_allclose(both.epsilon, [0.68, 0.68], rtol=1e-5)


def test_only_the_dqn_has_a_memory_and_a_target():
    assert agent().replay is not None
    assert agent().target is not None
    online = agent(dataclasses.replace(CONFIG, algorithm="online-q"))
    assert online.replay is None
    assert online.target is None


def test_a_round_of_several_agents_fits_the_memory():
    config = QLearning(n_envs=4, n_steps=2, memory=100)
    mlp = MLP.random((2, 3), key=jax.random.key(0))
    made = create(mlp, 2, config, 1, key=jax.random.key(1), n_agents=3)
    assert made.replay is not None
    assert made.replay.rows.action.shape == (4, 24)


@pytest.mark.parametrize("gradient", [0.0, 1e-3, 1e6])
def test_plain_steps_are_the_gradient_itself(gradient):
    config = QLearning(optimiser="sgd", max_gradient_norm=float("inf"))
    plain = optimiser(config)
    step, _ = plain.update(jnp.array([gradient]), plain.init(jnp.zeros(1)))
    np.testing.assert_array_equal(step, np.array([gradient], np.float32))
