from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probe_envs import Targets
from trajectories import F, any_trajectory, to_bytes, with_other_masked_rows

from crisptree.base.errors import CrisptreeError
from crisptree.learn import sac
from crisptree.learn.acting import greedy
from crisptree.learn.config import SACConfig
from crisptree.learn.heads import Categorical, Gaussian, head_for
from crisptree.learn.replay import Transitions
from crisptree.learn.stacks import pick, stack
from crisptree.learn.trainer import Trainer
from crisptree.soft import MLP

CONFIG = SACConfig(
    n_envs=8,
    n_steps=16,
    buffer_size=256,
    batch_size=32,
    gradient_steps=2,
    learning_starts=0,
    critic_width=8,
    normalize_observations=False,
    normalize_rewards=False,
)
HEAD = sac.squashed(Gaussian((-1.0, 0.0), (1.0, 4.0)))


def fresh(config: SACConfig = CONFIG):
    actor = MLP.policy(F, (8,), HEAD, key=jax.random.key(0))
    return sac.init(actor, F, config, 10, key=jax.random.key(1))


def some_rows(n: int = 40) -> Transitions:
    random = np.random.default_rng(0)
    return Transitions(
        observation=jnp.asarray(random.normal(size=(n, F)), jnp.float32),
        action=jnp.asarray(random.uniform(-1, 1, size=(n, 2)), jnp.float32),
        reward=jnp.asarray(random.normal(size=n), jnp.float32),
        next_observation=jnp.asarray(random.normal(size=(n, F)), jnp.float32),
        terminated=jnp.asarray(random.uniform(size=n) < 0.3),
        mask=jnp.asarray(random.uniform(size=n) < 0.8),
    )


def test_the_critics_loss_written_out():
    """½ Σ over both critics of (Q - r - γ (min Q⁻ - α log π))², where the episode went on."""
    state, rows, key = fresh(), some_rows(), jax.random.key(3)
    targets = tuple(
        MLP.random((F + 2, 8, 8, 1), key=jax.random.key(i), last_scale=1.0) for i in (5, 6)
    )
    state = eqx.tree_at(lambda s: s.targets, state, targets)
    _, value_loss = jax.jit(sac.critic_step)(state, rows, CONFIG, key)
    noise = HEAD.noise(key, (len(rows.reward),))
    distribution = HEAD.distribution(state.actor(rows.next_observation.T).T, None)
    action, log_probability = HEAD.sample_with_log_probability(distribution, noise)
    there = jnp.concatenate([rows.next_observation, action], 1)
    here = jnp.concatenate([rows.observation, rows.action], 1)
    lowest = np.min([np.asarray(target(there.T)[0]) for target in targets], 0)
    worth = lowest - np.exp(state.log_temperature) * log_probability
    goal = rows.reward + np.where(rows.terminated, 0, CONFIG.discount * worth)
    squares = [(np.asarray(critic(here.T)[0]) - goal) ** 2 for critic in state.critics]
    expected = float(np.sum(squares, 0)[rows.mask].mean()) / 2
    assert float(value_loss) == pytest.approx(expected, rel=1e-4)


def test_targets_follow_the_critics_slowly():
    state = fresh()
    after, _ = jax.jit(sac.sac_step)(state, some_rows(), CONFIG, jax.random.key(0))
    for before, critic, target in zip(
        *(jax.tree.leaves(part) for part in (state.targets, after.critics, after.targets)),
        strict=True,
    ):
        expected = before + CONFIG.tau * (critic - before)
        np.testing.assert_allclose(target, expected, rtol=1e-5, atol=1e-7)
    assert to_bytes(after.critics) != to_bytes(state.critics)
    assert to_bytes(after.actor) != to_bytes(state.actor)


@pytest.mark.parametrize(("entropy", "rises"), [(-3.0, True), (-1.0, False)])
def test_the_temperature_seeks_the_target_entropy(entropy, rises):
    """-1 for each of two dimensions."""
    after = sac.temperature_step(fresh(), jnp.asarray(entropy), CONFIG)
    assert bool(after.log_temperature > fresh().log_temperature) is rises


def test_rows_that_did_not_act_change_nothing():
    state = fresh()
    trajectory = any_trajectory(state)
    update = jax.jit(sac.update)
    both = (trajectory, with_other_masked_rows(trajectory))
    one, other = (update(state, each, CONFIG) for each in both)
    assert to_bytes((one[0].actor, one[0].critics)) == to_bytes((other[0].actor, other[0].critics))
    assert int(one[0].n_transitions) == int(trajectory.mask.sum())


def test_nothing_is_learned_before_learning_starts():
    config = replace(CONFIG, learning_starts=1000)
    state = fresh(config)
    after, metrics = jax.jit(sac.update)(state, any_trajectory(state), config)
    assert to_bytes((after.actor, after.critics)) == to_bytes((state.actor, state.critics))
    assert float(metrics["value_loss"]) == 0


def test_other_actors_are_refused():
    actor = MLP.policy(F, (8,), Categorical(2), key=jax.random.key(0))
    with pytest.raises(CrisptreeError, match="needs Box actions and an actor with a Squashed"):
        sac.init(actor, F, CONFIG, 10, key=jax.random.key(1))


def test_a_real_action_is_learned():
    config = SACConfig(
        n_envs=16,
        n_steps=4,
        batch_size=64,
        gradient_steps=8,
        learning_starts=128,
        critic_width=32,
        learning_rate=5e-3,
        critic_learning_rate=5e-3,
        target_entropy=-2.0,
    )
    env = Targets()
    head = head_for(env.actions)
    assert isinstance(head, Gaussian)
    actor = MLP.policy(1, (16,), sac.squashed(head), key=jax.random.key(0))
    states = stack([sac.init(actor, 1, config, 120, key=jax.random.key(1))])
    with Trainer(None, config, env=env) as trainer:
        for progress in trainer.learn(states):
            states = progress.states
    policy = greedy(pick(states, 0))
    np.testing.assert_allclose(
        policy.act(np.array([[1.0], [-1.0]], np.float32)), [[0.5], [-1.5]], atol=0.2
    )
