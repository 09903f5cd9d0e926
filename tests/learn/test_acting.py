import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.learn import q_agent
from crisptree.learn.acting import sampler
from crisptree.learn.agent import create
from crisptree.learn.config import Learning
from crisptree.learn.moments import Moments
from crisptree.learn.q_config import QLearning
from crisptree.learn.rollout import sample_actions
from crisptree.learn.stacks import pick, stack
from crisptree.soft import AxisTree, SoftTree, balanced, baseline

CONFIG, Q = Learning(), QLearning(memory=16)
SEEN = Moments(jnp.array([1.0, -2.0, 0.0]), jnp.array([4.0, 0.01, 1.0]), jnp.array(100.0))


def of_tree(kind, key):
    return create(kind.random(balanced(6), 3, 4, key=key), 3, CONFIG, 5, key=key)


def of_mlp(key):
    return create(baseline(1, 3, 4, key=key), 3, CONFIG, 5, key=key)


def of_values(key):
    tree = SoftTree.random(balanced(6), 3, 4, key=key)
    return q_agent.create(tree, 3, Q, 5, key=key)


AGENTS = {
    "soft": lambda key: of_tree(SoftTree, key),
    "axis": lambda key: of_tree(AxisTree, key),
    "mlp": of_mlp,
    "q": of_values,
}


@pytest.mark.parametrize("kind", AGENTS)
@pytest.mark.parametrize("moments", [SEEN, Moments.empty((3,))], ids=["seen", "unseen"])
def test_actions_are_those_of_each_agent_s_own_policy(kind, moments):
    alone = [AGENTS[kind](jax.random.key(seed)) for seed in range(2)]
    alone = [eqx.tree_at(lambda a: a.observations, agent, moments) for agent in alone]
    agents = stack(alone)
    dice = np.random.default_rng(0)
    observation = (20 * dice.normal(size=(2, 500, 3))).astype(np.float32)
    uniform = dice.random((2, 500), dtype=np.float32)
    action, log_probability = sampler(agents)(observation, uniform)
    for seed in range(2):
        log_policy = pick(agents, seed).log_policy(jnp.asarray(observation[seed]))
        expected, its_log = sample_actions(log_policy, jnp.asarray(uniform[seed]))
        np.testing.assert_array_equal(action[seed], expected)
        np.testing.assert_allclose(log_probability[seed], its_log, rtol=1e-4, atol=1e-5)
    assert (action[0] != action[1]).any()
