"""The adaptive schedule on returns that are made up."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.learn.schedule import (
    RETURNS,
    WAITING,
    WAITS_FROM,
    WINDOW,
    Schedule,
    interpolate,
)

N_UPDATES, SPEEDUP = RETURNS, 4.0  # so that each update is a return of its own


def paces(
    returns, speedup: float = SPEEDUP, n_updates: int = N_UPDATES, longest: float = 1.0
) -> np.ndarray:
    """How fast the progress went at each update."""

    @jax.jit
    def follow(returns):
        def step(schedule, mean_return):
            ended = ~jnp.isnan(mean_return)
            total = jnp.where(ended, mean_return, 0)
            later = schedule.after_update(total, 1.0 * ended, speedup, longest)
            return later, later.pace_sum - schedule.pace_sum

        return jax.lax.scan(step, Schedule.start(n_updates), returns)[1]

    # Rounded, since they are differences of a sum that grows.
    return np.round(np.asarray(follow(jnp.asarray(returns, jnp.float32))), 2)


def noise(n: int, size: float, seed: int = 0) -> np.ndarray:
    return size * np.random.default_rng(seed).normal(size=n)


def test_returns_that_rise_and_are_flat_then_speed_up():
    returns = np.concatenate([np.linspace(20, 500, 40), np.full(60, 500.0)])
    pace = paces(returns)
    assert (pace[:40] == 1).all()
    assert (pace[40 + 2 * WINDOW :] >= SPEEDUP).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_little_noise_on_a_plateau_hardly_slows(seed):
    rise = np.concatenate([np.linspace(-200, 250, 60), np.full(100, 250.0)])
    pace = paces(rise + noise(160, 3, seed))
    assert (pace[:50] == 1).mean() > 0.9
    assert (pace[80:] == SPEEDUP).mean() > 0.8


@pytest.mark.parametrize("seed", range(5))
def test_a_slow_rise_in_much_noise_is_no_plateau(seed):
    """As LunarLander's network: the last fifth of the return takes half of the training."""
    rise = np.concatenate([np.linspace(-200, 220, 75), np.linspace(220, 280, 75)])
    assert (paces(rise + noise(150, 13, seed)) == 1).mean() > 0.85


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("size", [0.0, 1.0, 300.0])
def test_returns_that_never_rise_keep_the_plain_pace(seed, size):
    assert (paces(-200 + noise(300, size, seed)) == 1).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_rare_success_is_no_rise(seed):
    """As in MountainCar: -200 for ever, but for one episode in a while."""
    returns = np.full(300, -200.0)
    returns[np.random.default_rng(seed).choice(300, 6, replace=False)] = -195.0
    assert (paces(returns) == 1).all()


def test_wild_returns_at_the_start_hide_no_rise():
    """As LunarLander's network: early updates end in one crash or in none, 300 apart."""
    wild = -100 + 300 * (np.arange(40) % 2)
    returns = np.concatenate([np.linspace(-170, -100, 20), wild, np.full(200, 260.0)])
    schedule = Schedule.start(N_UPDATES)
    for each in returns + noise(len(returns), 10):
        schedule = schedule.after_update(float(each), 1.0, SPEEDUP)
    assert bool(schedule.has_risen) and not bool(schedule.is_flat)


def test_returns_that_still_rise_keep_the_plain_pace():
    assert (paces(np.linspace(0, 100, 150)) == 1).all()


@pytest.mark.parametrize("seed", range(3))
def test_returns_that_still_rise_through_noise_mostly_keep_the_plain_pace(seed):
    assert (paces(np.linspace(0, 100, 100) + noise(100, 1.5, seed)) == 1).mean() > 0.9


def test_a_training_may_wait_while_returns_rise_in_its_second_half():
    pace = paces(np.linspace(0, 100, 200), longest=3.0)
    half = round(WAITS_FROM * N_UPDATES)
    assert (pace[: half - 1] == 1).all()
    assert (pace[half + 1 :] == WAITING).all()


def test_a_training_waits_no_longer_than_it_may():
    pace = paces(np.linspace(0, 100, 400), longest=2.0)
    assert (pace[2 * N_UPDATES + 1 :] == 1).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_training_hardly_waits_for_noise(seed):
    """Nor for the last few per cent of a rise."""
    rise = np.concatenate([np.linspace(-200, 270, 70), np.linspace(270, 280, 80)])
    assert (paces(rise + noise(150, 13, seed), longest=3.0)[80:] == WAITING).mean() < 0.1


def test_returns_that_fall_never_rose():
    assert (paces(np.linspace(100, 0, 100)) == 1).all()


def test_updates_without_an_episode_change_nothing():
    """They keep the pace there is, and the returns around them count as neighbours."""
    returns = np.concatenate([np.linspace(20, 500, 40), np.full(60, 500.0)])
    gaps = np.full(200, np.nan)
    gaps[::2] = returns
    np.testing.assert_array_equal(paces(gaps)[::2] > 1, paces(returns) > 1)
    np.testing.assert_array_equal(paces(gaps)[1::2] > 1, paces(returns) > 1)


@pytest.mark.parametrize("times", [2, 3, 4])
def test_a_longer_training_looks_at_more_updates(times):
    """Each return is that of several updates, so that the same rise, drawn out, is still a rise."""
    returns = np.concatenate([np.linspace(20, 500, 40 * times), np.full(60 * times, 500.0)])
    pace = paces(returns, n_updates=times * RETURNS)
    assert (pace[: 40 * times] == 1).all()
    assert (pace[(40 + 2 * WINDOW) * times :] >= SPEEDUP).all()


def test_what_is_learned_early_ends_early():
    """Returns that are flat for certain: the whole takes less than twice what it took to see it."""
    returns = np.concatenate([np.linspace(20, 500, 20), np.full(200, 500.0)])
    n_updates = 20 * RETURNS
    pace = paces(returns, n_updates=n_updates)
    fast = int(np.argmax(pace > 1))
    assert 20 + WINDOW <= fast <= 60
    assert pace[: 2 * fast].sum() >= n_updates


def test_the_flatter_the_faster():
    rise, rng = np.linspace(20, 500, 20), np.random.default_rng(0)
    ends = [
        paces(np.concatenate([rise, 500 + size * rng.normal(size=200)]), n_updates=20 * RETURNS)
        for size in (0.0, 1.0, 3.0)
    ]
    assert [pace.sum() for pace in ends] == sorted((pace.sum() for pace in ends), reverse=True)


def test_episodes_count_not_updates():
    """Where all episodes end in every fourth update, one that fails in between is one of many."""
    schedule = Schedule.start(20 * RETURNS)
    after = jax.jit(lambda s, total, n: s.after_update(total, n, SPEEDUP))
    for update in range(400):
        reached = 500.0 if update > 100 else 20.0
        ended = 64.0 if update % 4 == 3 else float(update % 20 == 5)
        schedule = after(schedule, ended * reached if ended != 1 else 300.0, ended)
    assert float(schedule.pace(SPEEDUP)) >= SPEEDUP


def test_the_first_updates_may_have_no_episode():
    assert (paces([np.nan] * 50) == 1).all()
    np.testing.assert_array_equal(paces([np.nan] * 9 + [1.0] * 20), paces([1.0] * 29))


def test_a_speedup_of_one_is_the_plain_pace():
    returns = np.concatenate([np.linspace(20, 500, 40), np.full(60, 500.0)])
    assert (paces(returns, 1.0) == 1).all()


@pytest.mark.parametrize("n_updates", [1, 3, 7, 150, 613])
def test_a_training_at_the_plain_pace_has_all_its_updates(n_updates):
    schedule, step = (
        Schedule.start(n_updates),
        jax.jit(lambda s: s.after_update(0.0, 0.0, 3.0)),
    )
    for update in range(n_updates):
        assert int(schedule.update) == update
        assert not schedule.is_done
        np.testing.assert_allclose(schedule.fraction, update / n_updates, rtol=1e-6)
        schedule = step(schedule)
    assert schedule.is_done
    assert float(schedule.fraction) == 1


def test_interpolate():
    assert [float(interpolate(2.0, 6.0, jnp.asarray(f))) for f in (0.0, 0.25, 1.0)] == [2, 3, 6]


def test_a_steep_rise_is_no_noise():
    """Within the first returns already, as in tasks that are easy to learn."""
    returns = np.concatenate([[20, 120, 370], np.full(40, 500.0)])
    assert (paces(returns)[2 * WINDOW + 8 :] >= SPEEDUP).all()
