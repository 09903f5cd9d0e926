"""The learners on environments whose values and answers are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probe_envs import (
    ASKED,
    CONSTANT,
    ENDLESS,
    LATE,
    TOLD,
    Pairs,
    Probes,
    ProbeState,
    Targets,
    observed,
)

from crisptree.learn import dqn, ppo, reinforce
from crisptree.learn.acting import greedy
from crisptree.learn.config import DQNConfig, PPOConfig, ReinforceConfig
from crisptree.learn.heads import head_for
from crisptree.learn.stacks import pick, stack
from crisptree.learn.trainer import Trainer
from crisptree.soft import MLP, AxisTree, SoftTree, balanced

GAMMA = 0.5
PPO = PPOConfig(
    n_envs=64,
    n_steps=8,
    n_epochs=4,
    n_minibatches=4,
    gamma=GAMMA,
    learning_rate=2e-2,
    critic_learning_rate=1e-2,
    normalize_rewards=False,
)
REINFORCE = ReinforceConfig(
    n_envs=64,
    n_steps=8,
    gamma=GAMMA,
    learning_rate=5e-2,
    critic_learning_rate=2e-2,
    normalize_rewards=False,
    optimizer="rmsprop",
)
ACTOR_CRITICS = {"ppo": (ppo, PPO, 80), "reinforce": (reinforce, REINFORCE, 250)}

VALUES = {
    "terminated does not bootstrap": ((CONSTANT, 0, 1.0), 1.0),
    "truncated bootstraps": ((ENDLESS, 0, 1.0), 1 / (1 - GAMMA)),
    "the reward's own step": ((LATE, 1, 1.0), 1.0),
    "the step before, discounted": ((LATE, 0, 1.0), GAMMA),
    "the observation says 1": ((TOLD, 0, 1.0), 1.0),
    "the observation says -1": ((TOLD, 0, -1.0), -1.0),
    "the right action is taken": ((ASKED, 0, -1.0), 1.0),
}
Q_VALUES = {
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


def trained(env, config, state):
    """The state after its whole training."""
    states = stack([state])
    with Trainer(None, config, env=env) as trainer:
        for progress in trainer.learn(states):
            states = progress.states
    return pick(states, 0)


@pytest.mark.parametrize("algorithm", ACTOR_CRITICS)
def test_known_values_and_the_right_action(algorithm):
    """The critic learns every value, and the actor the one answer that matters."""
    module, config, n_updates = ACTOR_CRITICS[algorithm]
    tree = SoftTree.random(balanced(4), 7, 2, key=jax.random.key(0))
    state = trained(
        Probes(), config, module.init(tree, 7, config, n_updates, key=jax.random.key(1))
    )
    values = state.values(jnp.stack([seen(*where) for where, _ in VALUES.values()]))
    learned = dict(zip(VALUES, values.tolist(), strict=True))
    assert learned == pytest.approx({what: value for what, (_, value) in VALUES.items()}, abs=0.05)
    asked = jnp.stack([seen(ASKED, 0, hint) for hint in (-1.0, 1.0)])
    assert (np.exp(state.distribution(asked)).diagonal() > 0.95).all()


@pytest.mark.parametrize("algorithm", ["dqn", "online_q"])
def test_known_values_of_actions(algorithm):
    config = DQNConfig(
        algorithm=algorithm,
        n_envs=64,
        n_steps=32,
        gradient_steps=32,
        gamma=GAMMA,
        learning_rate=5e-3,
        epsilon_start=0.5,
        epsilon_end=0.5,
        learning_starts=500,
        target_update_interval=20,
        normalize_rewards=False,
    )
    mlp = MLP.random((7, 64, 64, 2), key=jax.random.key(0))
    state = trained(Probes(), config, dqn.init(mlp, 7, config, 60, key=jax.random.key(1)))
    rows = jnp.stack([seen(*where) for where, _ in Q_VALUES.values()])
    learned = dict(zip(Q_VALUES, state.q_values(rows).tolist(), strict=True))
    for what, (_, values) in Q_VALUES.items():
        assert learned[what] == pytest.approx(values, abs=0.1), what


def fresh(env, config, n_updates: int, gains: int = 0):
    head, key = head_for(env.actions), jax.random.key(0)
    tree = AxisTree.random(balanced(2), env.n_features, head, key=key, gains=gains)
    return ppo.init(tree, env.n_features, config, n_updates, key=jax.random.key(1))


BOTH = np.array([[1.0], [-1.0]], np.float32)


@pytest.mark.parametrize("gains", [0, 1], ids=["constant", "linear"])
def test_a_real_action_is_learned(gains):
    """To a fortieth of its range, by a soft tree that turns crisp."""
    config = PPOConfig(
        n_envs=32, n_steps=16, n_minibatches=2, learning_rate=2e-2, steepness=(4.0, 40.0)
    )
    state = trained(Targets(), config, fresh(Targets(), config, 100, gains))
    np.testing.assert_allclose(greedy(state).act(BOTH), [[0.5], [-1.5]], atol=0.1)
    assert float(state.log_std[0]) <= -2


def test_several_choices_are_learned():
    config = PPOConfig(
        n_envs=32, n_steps=16, n_minibatches=2, learning_rate=2e-2, steepness=(4.0, 40.0)
    )
    state = trained(Pairs(), config, fresh(Pairs(), config, 60))
    assert greedy(state).act(BOTH).tolist() == [[1, 2], [0, 2]]
