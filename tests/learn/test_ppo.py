"""One update of PPO and REINFORCE: what it changes, what it leaves alone, and by how much."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from trajectories import F, R, T, any_trajectory, to_bytes, with_other_masked_rows

from crisptree.base.errors import CrisptreeError
from crisptree.learn import ppo, reinforce
from crisptree.learn.config import PPOConfig, ReinforceConfig
from crisptree.learn.heads import Categorical, Gaussian, MultiCategorical
from crisptree.learn.moments import Moments
from crisptree.learn.ppo import annealed
from crisptree.learn.trajectory import COLLECT, RESET, SHUFFLE
from crisptree.soft import MLP, AxisTree, SoftTree, balanced, critic

ALGORITHMS = {
    "ppo": (ppo, PPOConfig(n_envs=R, n_steps=T, n_epochs=2, n_minibatches=2)),
    "reinforce": (reinforce, ReinforceConfig(n_envs=R, n_steps=T)),
}
HEADS = {
    "discrete": Categorical(2),
    "multi_discrete": MultiCategorical((2, 3)),
    "box": Gaussian((-1.0, 0.0), (1.0, 5.0)),
}


@functools.cache
def fresh(algorithm: str, kind: str = "discrete"):
    """A new state and the compiled update of one algorithm."""
    module, config = ALGORITHMS[algorithm]
    tree = SoftTree.random(balanced(4), F, HEADS[kind], key=jax.random.key(0))
    state = module.init(tree, F, config, 10, key=jax.random.key(1))
    return state, jax.jit(lambda state, trajectory: module.update(state, trajectory, config))


@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rows_that_did_not_act_change_nothing(algorithm, kind):
    """Parameters, optimizers, moments and metrics, bit for bit; and nothing at all without any."""
    state, update = fresh(algorithm, kind)
    trajectory = any_trajectory(state)
    other = with_other_masked_rows(trajectory)
    assert to_bytes(trajectory) != to_bytes(other)
    assert 5 < (~trajectory.mask).sum() < T * R / 2
    assert to_bytes(update(state, trajectory)) == to_bytes(update(state, other))

    idle, metrics = update(state, trajectory._replace(mask=jnp.zeros((T, R), bool)))
    assert to_bytes(idle.critic) == to_bytes(state.critic)
    assert to_bytes((idle.observations, idle.returns)) == to_bytes(
        (state.observations, state.returns)
    )
    assert all(np.isfinite(value) for value in metrics.values())
    if kind != "box":  # the entropy of a Gaussian is there whoever acts
        assert to_bytes(idle.actor) == to_bytes(state.actor)


def test_rows_that_did_act_change_something():
    state, update = fresh("reinforce")
    trajectory = any_trajectory(state)
    improved, _ = update(state, trajectory)
    t, row = np.argwhere(trajectory.mask)[3]
    more = trajectory._replace(reward=trajectory.reward.at[t, row].add(1.0))
    assert to_bytes(update(state, more)[0].actor) != to_bytes(improved.actor)
    assert to_bytes(improved.actor) != to_bytes(state.actor)
    assert to_bytes(improved.critic) != to_bytes(state.critic)


def test_moments_are_of_the_rows_that_acted():
    state, update = fresh("reinforce")
    trajectory = any_trajectory(state)
    improved, _ = update(state, trajectory)
    mask = np.asarray(trajectory.mask)
    rows = np.asarray(trajectory.observation)[mask]
    np.testing.assert_allclose(improved.observations.mean, rows.mean(0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(improved.observations.variance, rows.var(0), rtol=1e-4)
    returns = np.asarray(trajectory.discounted_return)[mask]
    np.testing.assert_allclose(improved.returns.variance, returns.var(), rtol=1e-4)


@pytest.mark.parametrize("kind", HEADS)
def test_old_and_new_probabilities_are_of_the_same_standardisation(kind):
    """A first gradient step compares the policy with itself, once the moments have moved too."""
    config = PPOConfig(n_envs=R, n_steps=T, n_epochs=1, n_minibatches=1)
    state, _ = fresh("ppo", kind)
    update = jax.jit(lambda state, trajectory: ppo.update(state, trajectory, config))
    for seed in range(3):
        state, metrics = update(state, any_trajectory(state, seed))
        assert float(metrics["kl"]) == pytest.approx(0, abs=1e-5)


def test_no_key_is_used_twice():
    """The next trajectory, its shuffles and the next restart draw afresh."""
    state, update = fresh("ppo")
    keys = [state.key]
    for _ in range(2):
        state, _ = update(state, any_trajectory(state))
        keys.append(state.key)
    drawn = []
    for key in keys:
        collecting = jax.random.fold_in(key, COLLECT)
        others = (jax.random.fold_in(key, i) for i in (SHUFFLE, RESET))
        used = (key, collecting, *jax.random.split(collecting, 3), *others)
        drawn += [tuple(jax.random.key_data(k).tolist()) for k in used]
    assert len(set(drawn)) == len(drawn)


def test_updates_are_counted_and_returns_logged():
    state, update = fresh("reinforce")
    improved, metrics = update(state, any_trajectory(state))
    assert int(update(improved, any_trajectory(state, 1))[0].update) == 2
    assert float(metrics["return"]) == 3
    assert float(metrics["episodes"]) == 4
    assert float(metrics["progress"]) == pytest.approx(0.1)


def test_minibatches_hold_every_time_once_an_epoch():
    config = PPOConfig(n_envs=R, n_steps=12, n_epochs=3, n_minibatches=4)
    state, _ = fresh("ppo")
    times = np.asarray(ppo.minibatch_times(state, config))
    assert times.shape == (12, 3)
    for epoch in times.reshape(3, 12):
        assert sorted(epoch) == list(range(12))
    assert len({tuple(epoch) for epoch in times.reshape(3, 12)}) == 3


@pytest.mark.parametrize(
    ("ratio", "advantage", "objective", "slope"),
    [
        (1.0, 2.0, 2.0, 2.0),
        (1.1, 2.0, 2.2, 2.0),
        (1.3, 2.0, 2.4, 0.0),  # far enough in the good direction: clipped
        (0.7, 2.0, 1.4, 2.0),
        (0.9, -2.0, -1.8, -2.0),
        (0.7, -2.0, -1.6, 0.0),
        (1.3, -2.0, -2.6, -2.0),
    ],
)
def test_the_clipped_objective_by_hand(ratio, advantage, objective, slope):
    """Its slope is in the ratio of probabilities."""

    def of(ratio):
        return ppo.clipped_objective(jnp.log(ratio)[None], jnp.array([advantage]), 0.2)[0]

    value, gradient = jax.value_and_grad(of)(jnp.asarray(ratio))
    assert float(value) == pytest.approx(objective, rel=1e-5)
    assert float(gradient) == pytest.approx(slope, rel=1e-5, abs=1e-6)


def at(state, share: float):
    """The state with its training so far done."""
    done = share * state.n_updates.astype(jnp.float32)
    return eqx.tree_at(lambda s: s.schedule.pace_sum, state, done)


def axis_state(**numbers):
    config = PPOConfig(n_envs=R, n_steps=T, **numbers)
    tree = AxisTree.random(
        balanced(4), F, Gaussian((-1.0,), (1.0,)), key=jax.random.key(0), gains=1
    )
    return ppo.init(tree, F, config, 20, key=jax.random.key(1)), config


def test_steepness_grows_geometrically_and_stays():
    state, config = axis_state(steepness=(2.0, 32.0), anneal_until=0.8)
    shares = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    reached = [float(annealed(at(state, share), config).actor.steepness) for share in shares]
    np.testing.assert_allclose(reached, [2, 4, 8, 16, 32, 32], rtol=1e-5)


def test_a_fresh_state_starts_at_the_schedule_s_start():
    state, _ = axis_state(steepness=(5.0, 32.0), log_std_start=-0.25)
    assert float(state.actor.steepness) == 5
    assert state.log_std.tolist() == [-0.25]


def test_without_a_schedule_the_steepness_is_left_alone():
    assert float(axis_state()[0].actor.steepness) == 2.0


def test_the_deviation_is_learned_below_a_cap_that_falls():
    state, config = axis_state(log_std_start=0.0, log_std_end=-2.0, anneal_until=0.5)
    caps = [float(annealed(at(state, share), config).log_std[0]) for share in (0, 0.25, 0.5, 1)]
    np.testing.assert_allclose(caps, [0, -1, -2, -2])
    low = eqx.tree_at(lambda s: s.log_std, state, jnp.array([-1.5]))
    assert float(annealed(at(low, 0.25), config).log_std[0]) == -1.5


def test_gains_are_chosen_when_it_is_time():
    state, config = axis_state(choose_gains_at=0.3)
    drawn = jax.random.normal(jax.random.key(3), state.actor.gains.shape)
    state = eqx.tree_at(lambda s: s.actor.gains, state, drawn)
    assert bool(annealed(at(state, 0.25), config).actor.kept_gains.all())
    kept = np.asarray(annealed(at(state, 0.3), config).actor.kept_gains)
    assert (kept.sum(-1) == 1).all()
    np.testing.assert_array_equal(kept.argmax(-1), np.abs(drawn).argmax(-1))


def test_policies_and_values_are_of_standardised_observations():
    tree = SoftTree.random(balanced(4), 3, 2, key=jax.random.key(0))
    moments = Moments(jnp.array([1.0, 2.0, 3.0]), jnp.array([4.0, 9.0, 16.0]), jnp.ones(()))
    values = critic(3, 4, key=jax.random.key(2))
    state = ppo.init(
        tree, 3, PPOConfig(), 1, key=jax.random.key(1), critic=values, observations=moments
    )
    raw, standard = jnp.array([[3.0, -1.0, 7.0]]), jnp.array([1.0, -1.0, 1.0])
    np.testing.assert_allclose(state.distribution(raw)[0], tree.log_policy(standard), rtol=1e-5)
    np.testing.assert_allclose(state.values(raw), values(standard), rtol=1e-5)


def test_an_actor_that_does_not_fit_is_refused():
    tree = SoftTree.random(balanced(4), 3, 2, key=jax.random.key(0))
    with pytest.raises(CrisptreeError, match="has 2 outputs; these actions need 5"):
        ppo.init(tree, 3, PPOConfig(), 1, key=jax.random.key(1), head=MultiCategorical((2, 3)))
    linear = AxisTree.random(balanced(4), 3, 2, key=jax.random.key(0), gains=1)
    with pytest.raises(CrisptreeError, match="linear leaves are for Box actions"):
        ppo.init(linear, 3, PPOConfig(), 1, key=jax.random.key(1))


def test_a_steepness_schedule_leaves_other_models_alone():
    config = PPOConfig(steepness=(2.0, 50.0))
    for actor in (MLP.policy(3, (4,), 2, key=jax.random.key(0)), fresh("ppo")[0].actor):
        state = ppo.init(actor, 3, config, 5, key=jax.random.key(1))
        assert to_bytes(state.actor) == to_bytes(actor)


def test_the_average_is_the_mean_of_the_actors_of_the_last_quarter():
    state, update = fresh("ppo")
    leaves, averages = [], []
    for _ in range(10):
        state, _ = update(state, any_trajectory(state))
        leaves.append(state.actor.leaves)
        averages.append(state.average.leaves)
    np.testing.assert_array_equal(averages[6], leaves[6])  # not yet
    # Progress is 0.8, 0.9 and 1 after the last three: half of the first of them counts.
    mean = (0.5 * leaves[7] + leaves[8] + leaves[9]) / 2.5
    np.testing.assert_allclose(averages[9], mean, rtol=1e-5)
