"""The learners on environments whose values and answers are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probe_envs import ASKED, CONSTANT, ENDLESS, LATE, TOLD, Probes, ProbeState, observed

from crisptree.learn.agent import Agent, create
from crisptree.learn.compiled import train
from crisptree.learn.config import Learning
from crisptree.soft import SoftTree, balanced

GAMMA = 0.5
CONFIGS = {
    "ppo": (
        Learning(
            n_envs=64,
            n_steps=8,
            epochs=4,
            minibatches=4,
            gamma=GAMMA,
            learning_rate=2e-2,
            critic_rate=1e-2,
            normalise_rewards=False,
        ),
        80,
    ),
    "reinforce": (
        Learning(
            algorithm="reinforce",
            n_envs=64,
            n_steps=8,
            minibatches=1,
            gamma=GAMMA,
            learning_rate=5e-2,
            critic_rate=2e-2,
            normalise_rewards=False,
            optimiser="rmsprop",
        ),
        250,
    ),
}


@pytest.fixture(scope="module", params=CONFIGS)
def learner(request) -> Agent:
    config, n_updates = CONFIGS[request.param]
    env = Probes()
    tree = SoftTree.random(balanced(4), env.n_features, env.n_actions, key=jax.random.key(0))
    agent = create(tree, env.n_features, config, n_updates, key=jax.random.key(1))
    return jax.jit(lambda agent: train(agent, env, config, n_updates)[0])(agent)


def seen(kind: int, time: int = 0, hint: float = 1.0) -> jax.Array:
    return observed(ProbeState(jnp.asarray(kind), jnp.asarray(time), jnp.asarray(hint)))


@pytest.mark.parametrize(
    ("kind", "time", "hint", "value"),
    [
        pytest.param(CONSTANT, 0, 1.0, 1.0, id="terminated does not bootstrap"),
        pytest.param(ENDLESS, 0, 1.0, 1 / (1 - GAMMA), id="truncated bootstraps"),
        pytest.param(LATE, 1, 1.0, 1.0, id="the reward's own step"),
        pytest.param(LATE, 0, 1.0, GAMMA, id="the step before, discounted"),
        pytest.param(TOLD, 0, 1.0, 1.0, id="the observation says 1"),
        pytest.param(TOLD, 0, -1.0, -1.0, id="the observation says -1"),
        pytest.param(ASKED, 0, -1.0, 1.0, id="the right action is taken"),
    ],
)
def test_values(learner, kind, time, hint, value):
    assert float(learner.values(seen(kind, time, hint)[None])[0]) == pytest.approx(value, abs=0.05)


@pytest.mark.parametrize(("hint", "action"), [(1.0, 1), (-1.0, 0)])
def test_the_action_that_is_asked_for(learner, hint, action):
    policy = np.exp(learner.log_policy(seen(ASKED, hint=hint)[None]))[0]
    assert policy[action] > 0.95
