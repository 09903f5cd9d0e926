"""Eq. 5 against its closed form, and the DQN's parts."""

import dataclasses
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.learn.q_agent import QAgent, create
from crisptree.learn.q_config import QLearning
from crisptree.learn.q_learning import gradient_step, improve
from crisptree.learn.q_replay import Transitions
from crisptree.learn.rollout import Rollout
from crisptree.soft import SoftTree, balanced

RATE, GAMMA = 0.05, 0.9
EQ_5 = QLearning(
    algorithm="online-q",
    n_envs=1,
    gamma=GAMMA,
    learning_rate=RATE,
    final_rate=1.0,
    optimiser="sgd",
    max_gradient_norm=float("inf"),
    warm_up=0,
    normalise_observations=False,
    normalise_rewards=False,
)
BETA, PHI, ALPHA = np.array([0.7, -0.4]), 0.3, 1.5
LEAVES = np.array([[2.0, -1.0], [0.5, 3.0]])  # TRUE, FALSE
HERE, THERE, ACTION, REWARD = np.array([1.0, 0.5]), np.array([-0.2, 2.0]), 1, 0.25


def one_node() -> SoftTree:
    return SoftTree(
        weights=jnp.asarray(BETA[None], jnp.float32),
        comparators=jnp.array([PHI]),
        steepness=jnp.array([ALPHA]),
        leaves=jnp.asarray(LEAVES, jnp.float32),
        topology=balanced(2),
    )


def a_step(terminated: bool) -> Rollout:
    """The one transition, which ended the episode in one way or the other."""
    return Rollout(
        observation=jnp.asarray(HERE[None, None], jnp.float32),
        action=jnp.array([[ACTION]]),
        log_probability=jnp.zeros((1, 1)),
        reward=jnp.array([[REWARD]]),
        running_return=jnp.array([[REWARD]]),
        next_observation=jnp.asarray(THERE[None, None], jnp.float32),
        terminated=jnp.array([[terminated]]),
        done=jnp.array([[True]]),
        mask=jnp.array([[True]]),
    )


def closed_form(terminated: bool) -> dict[str, np.ndarray]:
    """Eq. 5 with the derivatives of Eq. 9 to 12, and α where Eq. 11 and 12 print `a`."""

    def goes_true(x):
        return 1 / (1 + np.exp(-ALPHA * (BETA @ x - PHI)))

    def q(x):
        return goes_true(x) * LEAVES[0] + (1 - goes_true(x)) * LEAVES[1]

    mu = goes_true(HERE)
    gap = LEAVES[0, ACTION] - LEAVES[1, ACTION]
    difference = REWARD + (0 if terminated else GAMMA * q(THERE).max()) - q(HERE)[ACTION]
    leaves = np.zeros((2, 2))
    leaves[:, ACTION] = mu, 1 - mu
    return {
        "leaves": RATE * difference * leaves,
        "steepness": RATE * difference * gap * mu * (1 - mu) * (BETA @ HERE - PHI)[None],
        "weights": RATE * difference * gap * mu * (1 - mu) * ALPHA * HERE[None],
        "comparators": -RATE * difference * gap * mu * (1 - mu) * ALPHA * np.ones(1),
    }


@pytest.mark.parametrize("terminated", [True, False], ids=["terminated", "truncated"])
def test_one_transition_moves_every_parameter_as_eq_5_says(terminated):
    """A terminated step does not bootstrap; a truncated one does."""
    agent = create(one_node(), 2, EQ_5, 1, key=jax.random.key(0))
    after, metrics = improve(agent, a_step(terminated), EQ_5)
    for name, moved in closed_form(terminated).items():
        change = getattr(after.actor, name) - getattr(agent.actor, name)
        np.testing.assert_allclose(change, moved, rtol=1e-4, atol=1e-7, err_msg=name)
    assert np.abs(closed_form(True)["comparators"] - closed_form(False)["comparators"]) > 1e-3
    assert float(metrics["value_loss"]) > 0


def some_rows(n: int = 64) -> Transitions:
    random = np.random.default_rng(0)
    return Transitions(
        observation=jnp.asarray(random.normal(size=(n, 2)), jnp.float32),
        action=jnp.asarray(random.integers(2, size=n)),
        reward=jnp.asarray(random.normal(size=n), jnp.float32),
        next_observation=jnp.asarray(random.normal(size=(n, 2)), jnp.float32),
        terminated=jnp.asarray(random.uniform(size=n) < 0.2),
        mask=jnp.asarray(random.uniform(size=n) < 0.7),
    )


def test_rows_nobody_acted_in_change_nothing():
    rows = some_rows()
    others = rows._replace(
        reward=jnp.where(rows.mask, rows.reward, 1e4),
        observation=jnp.where(rows.mask[:, None], rows.observation, 7.0),
    )
    agent = create(one_node(), 2, EQ_5, 1, key=jax.random.key(0))
    one, other = (gradient_step(at_warm(agent), r, EQ_5)[0].actor for r in (rows, others))
    assert eqx.tree_equal(one, other)
    assert not eqx.tree_equal(one, agent.actor)


def at_warm(agent: QAgent, round: int = 1) -> QAgent:
    return eqx.tree_at(lambda a: a.round, agent, jnp.asarray(round))


DQN = dataclasses.replace(EQ_5, algorithm="q", memory=8, batch=4, sync_every=3, warm_up=2)


def a_dqn(config: QLearning = DQN) -> QAgent:
    return create(one_node(), 2, config, 100, key=jax.random.key(0))


def test_the_dqn_s_step_is_double_q_with_huber():
    """Against the same loss written out: actions by the learner, values by the target."""
    agent = at_warm(a_dqn(), 3)
    target = eqx.tree_at(lambda t: t.leaves, one_node(), jnp.array([[9.0, 1.0], [-5.0, 4.0]]))
    agent = eqx.tree_at(lambda a: a.target, agent, target)
    rows = some_rows()

    def loss(tree):
        total = 0.0
        for i in np.flatnonzero(rows.mask):
            best = int(agent.actor.q_values(rows.next_observation[i]).argmax())
            following = float(target.q_values(rows.next_observation[i])[best])
            goal = rows.reward[i] + (0.0 if rows.terminated[i] else GAMMA * following)
            size = jnp.abs(goal - tree.q_values(rows.observation[i])[rows.action[i]])
            total += jnp.where(size < 1, 0.5 * size**2, size - 0.5)
        return total / rows.mask.sum()

    gradient = jax.grad(loss)(agent.actor)
    after, metrics = gradient_step(agent, rows, DQN)
    for name in ("leaves", "weights", "comparators", "steepness"):
        change = getattr(after.actor, name) - getattr(agent.actor, name)
        np.testing.assert_allclose(
            change, -RATE * getattr(gradient, name), rtol=1e-3, atol=1e-6, err_msg=name
        )
    assert float(metrics["value_loss"]) == pytest.approx(float(loss(agent.actor)), rel=1e-5)
    assert eqx.tree_equal(after.target, target)


def test_warm_up_and_the_target_s_copies():
    """Rounds 1 and 2 learn nothing; rounds 3 and 6 end with the target a copy of the learner."""
    step = eqx.filter_jit(lambda agent: improve(agent, a_step(False), DQN)[0])
    agents = [a_dqn()]
    for _ in range(7):
        agents.append(step(agents[-1]))
    learned = [not eqx.tree_equal(b.actor, a.actor) for a, b in itertools.pairwise(agents)]
    assert learned == [False, False, True, True, True, True, True]
    copied = [eqx.tree_equal(agent.target, agent.actor) for agent in agents]
    assert copied == [True, True, True, True, False, False, True, False]
    assert eqx.tree_equal(agents[4].target, agents[3].actor)


def test_every_gradient_step_draws_its_own_rows():
    """Two in a round move the tree as no single one does, and the round is written once."""
    config = dataclasses.replace(DQN, warm_up=0, gradient_steps=2)
    after, _ = improve(a_dqn(config), a_step(False), config)
    single, _ = improve(a_dqn(), a_step(False), dataclasses.replace(DQN, warm_up=0))
    assert not eqx.tree_equal(after.actor, single.actor)
    assert after.replay is not None
    assert int(after.replay.count) == 1


def test_rewards_are_divided_by_the_deviation_of_returns():
    config = dataclasses.replace(EQ_5, normalise_rewards=True)
    agent = at_warm(create(one_node(), 2, config, 1, key=jax.random.key(0)))
    agent = eqx.tree_at(lambda a: a.returns.variance, agent, jnp.asarray(16.0))
    rows = some_rows()
    divided, _ = gradient_step(agent, rows, config)
    plain, _ = gradient_step(agent, rows._replace(reward=rows.reward / 4), EQ_5)
    for one, other in zip(
        jax.tree.leaves(divided.actor), jax.tree.leaves(plain.actor), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-5)
