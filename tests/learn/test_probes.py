"""The learners on environments whose values and answers are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probe_envs import ASKED, CONSTANT, ENDLESS, LATE, TOLD, Probes, ProbeState, observed

from crisptree.learn.agent import create
from crisptree.learn.compiled import train
from crisptree.learn.config import Learning
from crisptree.learn.rates import rates_of
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


VALUES = {
    "terminated does not bootstrap": ((CONSTANT, 0, 1.0), 1.0),
    "truncated bootstraps": ((ENDLESS, 0, 1.0), 1 / (1 - GAMMA)),
    "the reward's own step": ((LATE, 1, 1.0), 1.0),
    "the step before, discounted": ((LATE, 0, 1.0), GAMMA),
    "the observation says 1": ((TOLD, 0, 1.0), 1.0),
    "the observation says -1": ((TOLD, 0, -1.0), -1.0),
    "the right action is taken": ((ASKED, 0, -1.0), 1.0),
}


def seen(kind: int, time: int, hint: float) -> jax.Array:
    return observed(ProbeState(jnp.asarray(kind), jnp.asarray(time), jnp.asarray(hint)))


@pytest.mark.parametrize("algorithm", CONFIGS)
def test_known_values_and_the_right_action(algorithm):
    """The critic learns every value, and the actor the one answer that matters."""
    config, n_updates = CONFIGS[algorithm]
    env = Probes()
    tree = SoftTree.random(balanced(4), env.n_features, env.n_actions, key=jax.random.key(0))
    agent = create(tree, env.n_features, config, n_updates, key=jax.random.key(1))
    agent = jax.jit(lambda agent: train(agent, env, config, n_updates, rates_of(config))[0])(agent)

    values = agent.values(jnp.stack([seen(*state) for state, _ in VALUES.values()]))
    learned = dict(zip(VALUES, values.tolist(), strict=True))
    assert learned == pytest.approx({what: value for what, (_, value) in VALUES.items()}, abs=0.05)
    asked = jnp.stack([seen(ASKED, 0, hint) for hint in (-1.0, 1.0)])
    assert (np.exp(agent.log_policy(asked)).diagonal() > 0.95).all()
