"""Eq. 5 against its closed form, and the DQN's parts."""

import dataclasses
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.learn import dqn
from crisptree.learn.config import DQNConfig
from crisptree.learn.dqn import QState
from crisptree.learn.heads import Gaussian
from crisptree.learn.replay import Transitions
from crisptree.learn.trajectory import Trajectory
from crisptree.soft import SoftTree, balanced

q_step, update = jax.jit(dqn.q_step), jax.jit(dqn.update)
RATE, GAMMA = 0.05, 0.9
EQ_5 = DQNConfig(
    algorithm="online_q",
    n_envs=1,
    n_steps=1,
    gamma=GAMMA,
    learning_rate=RATE,
    final_learning_rate=1.0,
    optimizer="sgd",
    max_grad_norm=float("inf"),
    learning_starts=0,
    normalize_observations=False,
    normalize_rewards=False,
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


def a_step(terminated: bool) -> Trajectory:
    """The one transition, which ended the episode in one way or the other."""
    return Trajectory(
        observation=jnp.asarray(HERE[None, None], jnp.float32),
        action=jnp.array([[ACTION]]),
        log_probability=jnp.zeros((1, 1)),
        reward=jnp.array([[REWARD]]),
        discounted_return=jnp.array([[REWARD]]),
        next_observation=jnp.asarray(THERE[None, None], jnp.float32),
        terminated=jnp.array([[terminated]]),
        done=jnp.array([[True]]),
        mask=jnp.array([[True]]),
        return_sum=jnp.asarray(REWARD),
        n_episodes=jnp.asarray(1.0),
    )


def fresh(config: DQNConfig = EQ_5, n_updates: int = 100) -> QState:
    return dqn.init(one_node(), 2, config, n_updates, key=jax.random.key(0))


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
    state = fresh()
    after, metrics = update(state, a_step(terminated), EQ_5)
    for name, moved in closed_form(terminated).items():
        change = getattr(after.actor, name) - getattr(state.actor, name)
        np.testing.assert_allclose(change, moved, rtol=1e-4, atol=1e-7, err_msg=name)
    assert np.abs(closed_form(True)["comparators"] - closed_form(False)["comparators"]) > 1e-3
    assert float(metrics["value_loss"]) > 0
    assert float(metrics["return"]) == REWARD


def test_transitions_are_learned_from_one_after_the_other():
    """Two times in one trajectory move the tree as two updates do."""
    first, second = a_step(False), a_step(True)
    both = jax.tree.map(lambda a, b: jnp.concatenate([a, b]) if a.ndim else a, first, second)
    at_once, _ = update(fresh(), both, EQ_5)
    state = update(fresh(), first, EQ_5)[0]
    in_turn, _ = update(state, second, EQ_5)
    for one, other in zip(
        jax.tree.leaves(at_once.actor), jax.tree.leaves(in_turn.actor), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    assert (int(at_once.n_gradient_steps), int(in_turn.n_gradient_steps)) == (2, 2)


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
    one, other = (q_step(fresh(), each, EQ_5)[0].actor for each in (rows, others))
    assert eqx.tree_equal(one, other)
    assert not eqx.tree_equal(one, fresh().actor)


DQN = dataclasses.replace(
    EQ_5,
    algorithm="dqn",
    buffer_size=8,
    batch_size=4,
    gradient_steps=1,
    target_update_interval=3,
    learning_starts=3,
)


def test_the_dqn_s_step_is_double_q_with_huber():
    """Against the same loss written out: actions by the learner, values by the target."""
    config = dataclasses.replace(DQN, learning_starts=0)
    target = eqx.tree_at(lambda t: t.leaves, one_node(), jnp.array([[9.0, 1.0], [-5.0, 4.0]]))
    state = eqx.tree_at(lambda s: s.target, fresh(config), target)
    rows = some_rows()

    def loss(tree):
        best = state.actor.q_values(rows.next_observation.T).argmax(0)
        following = target.q_values(rows.next_observation.T)[best, np.arange(64)]
        goal = rows.reward + jnp.where(rows.terminated, 0.0, GAMMA * following)
        size = jnp.abs(goal - tree.q_values(rows.observation.T)[rows.action, np.arange(64)])
        each = jnp.where(size < 1, 0.5 * size**2, size - 0.5)
        return (each * rows.mask).sum() / rows.mask.sum()

    gradient = jax.jit(jax.grad(loss))(state.actor)
    after, metrics = q_step(state, rows, config)
    for name in ("leaves", "weights", "comparators", "steepness"):
        change = getattr(after.actor, name) - getattr(state.actor, name)
        np.testing.assert_allclose(
            change, -RATE * getattr(gradient, name), rtol=1e-3, atol=1e-6, err_msg=name
        )
    assert float(metrics["value_loss"]) == pytest.approx(float(loss(state.actor)), rel=1e-5)
    assert eqx.tree_equal(after.target, target)


def test_when_learning_starts_and_the_target_is_copied():
    """Updates 1 and 2 learn nothing; gradient steps 3 and 6 end with the target a copy."""
    step = lambda state: update(state, a_step(False), DQN)[0]
    states = [fresh(DQN)]
    for _ in range(8):
        states.append(step(states[-1]))
    learned = [not eqx.tree_equal(b.actor, a.actor) for a, b in itertools.pairwise(states)]
    assert learned == [False, False, *[True] * 6]
    copied = [bool(eqx.tree_equal(state.target, state.actor)) for state in states]
    assert copied == [True, True, True, False, False, True, False, False, True]
    assert int(states[-1].n_gradient_steps) == 6
    assert int(states[-1].n_transitions) == 8
    assert states[-1].replay is not None and int(states[-1].replay.n_written) == 8


def test_every_gradient_step_draws_its_own_rows():
    """Two in an update move the tree as no single one does, and the update is written once."""
    twice = dataclasses.replace(DQN, learning_starts=0, gradient_steps=2)
    after, _ = update(fresh(twice), a_step(False), twice)
    once = dataclasses.replace(DQN, learning_starts=0)
    single, _ = update(fresh(once), a_step(False), once)
    assert not eqx.tree_equal(after.actor, single.actor)
    assert int(after.replay.n_written) == 1


def test_rewards_are_divided_by_the_deviation_of_returns():
    config = dataclasses.replace(EQ_5, normalize_rewards=True)
    state = eqx.tree_at(lambda s: s.returns.variance, fresh(config), jnp.asarray(16.0))
    rows = some_rows()
    divided, _ = q_step(state, rows, config)
    plain, _ = q_step(state, rows._replace(reward=rows.reward / 4), EQ_5)
    for one, other in zip(
        jax.tree.leaves(divided.actor), jax.tree.leaves(plain.actor), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_the_policy_is_epsilon_greedy():
    config = dataclasses.replace(EQ_5, epsilon_start=0.8)
    state = fresh(config)
    observations = jax.random.normal(jax.random.key(2), (50, 2))
    policy = np.exp(state.distribution(observations))
    best = np.asarray(state.q_values(observations)).argmax(1)
    np.testing.assert_allclose(policy[np.arange(50), best], 0.6, rtol=1e-5)
    np.testing.assert_allclose(policy.sum(1), 1, rtol=1e-5)
    assert len(set(best)) > 1


def test_epsilon_falls_linearly_and_then_stays():
    config = dataclasses.replace(EQ_5, epsilon_start=0.8, epsilon_end=0.2, explore_until=0.5)
    step = lambda state: update(state, a_step(True), config)[0]
    state, seen = fresh(config, n_updates=10), []
    for _ in range(8):
        seen.append(float(state.epsilon[0]))
        state = step(state)
    np.testing.assert_allclose(seen, [0.8, 0.68, 0.56, 0.44, 0.32, 0.2, 0.2, 0.2], rtol=1e-5)


def test_only_the_dqn_has_a_buffer_and_a_target():
    assert fresh(DQN).replay is not None and fresh(DQN).target is not None
    assert fresh().replay is None and fresh().target is None


def test_real_actions_are_refused():
    tree = SoftTree.random(balanced(2), 2, Gaussian((-1.0,), (1.0,)), key=jax.random.key(0))
    with pytest.raises(CrisptreeError, match="needs Discrete actions; PPO learns the other kinds"):
        dqn.init(tree, 2, EQ_5, 1, key=jax.random.key(0))


@pytest.mark.parametrize(("terminated", "following"), [(True, 0.0), (False, 1.0)])
def test_targets_by_hand(terminated, following):
    q, target_q = jnp.array([[1.0, 3.0]]), jnp.array([[10.0, -4.0]])
    reward, over = jnp.array([0.5]), jnp.array([terminated])
    greedy = dqn.greedy_target(reward, over, q, 0.5)
    double = dqn.double_target(reward, over, q, target_q, 0.5)
    assert greedy.tolist() == [0.5 + following * 1.5]
    assert double.tolist() == [0.5 + following * -2.0]
