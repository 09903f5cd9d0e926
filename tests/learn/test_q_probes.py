"""Q-learning on environments whose values are known."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest
from probe_envs import ASKED, CONSTANT, ENDLESS, LATE, TOLD, Probes, ProbeState, observed

from crisptree.learn.q_agent import create
from crisptree.learn.q_config import QLearning
from crisptree.learn.session import compiled_segment, learn
from crisptree.learn.stacks import pick, stack
from crisptree.soft import MLP

GAMMA = 0.5
DQN = QLearning(
    n_envs=64,
    rounds=50,
    gamma=GAMMA,
    learning_rate=5e-3,
    epsilon=0.5,
    epsilon_end=0.5,
    warm_up=10,
    sync_every=20,
    normalise_rewards=False,
)
CONFIGS = {"q": DQN, "online-q": dataclasses.replace(DQN, algorithm="online-q")}
VALUES = {
    "terminated does not bootstrap": ((CONSTANT, 0, 1.0), (1.0, 1.0)),
    "truncated bootstraps": ((ENDLESS, 0, 1.0), (2.0, 2.0)),
    "the reward's own step": ((LATE, 1, 1.0), (1.0, 1.0)),
    "the step before, discounted": ((LATE, 0, 1.0), (0.5, 0.5)),
    "the observation says -1": ((TOLD, 0, -1.0), (-1.0, -1.0)),
    "action 0 is right": ((ASKED, 0, -1.0), (1.0, -1.0)),
    "action 1 is right": ((ASKED, 0, 1.0), (-1.0, 1.0)),
}


def seen(kind: int, time: int, hint: float) -> jax.Array:
    return observed(ProbeState(jnp.asarray(kind), jnp.asarray(time), jnp.asarray(hint)))


@pytest.mark.parametrize("algorithm", CONFIGS)
def test_known_values(algorithm):
    config, n_updates = CONFIGS[algorithm], 40
    mlp = MLP.random((7, 64, 64, 2), key=jax.random.key(0))
    agents = stack([create(mlp, 7, config, n_updates, key=jax.random.key(1))])
    for progress in learn(agents, compiled_segment(Probes(), config, 8), 8):
        agents = progress.agents
    rows = jnp.stack([seen(*state) for state, _ in VALUES.values()])
    learned = dict(zip(VALUES, pick(agents, 0).q_values(rows).tolist(), strict=True))
    for what, (_, values) in VALUES.items():
        assert learned[what] == pytest.approx(values, abs=0.1), what
