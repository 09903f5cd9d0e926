import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.learn.q_replay import Replay, Transitions, transitions
from crisptree.learn.rollout import Rollout

ROWS, F = 3, 2


def a_round(number: int) -> Transitions:
    """Three rows that know their round: rewards 3k, 3k + 1, 3k + 2."""
    reward = jnp.arange(ROWS, dtype=jnp.float32) + ROWS * number
    seen = jnp.stack([reward, -reward], 1)
    return Transitions(
        observation=seen,
        action=jnp.arange(ROWS) % 2,
        reward=reward,
        next_observation=seen + 0.5,
        terminated=reward % 2 == 0,
        mask=reward % 3 != 1,
    )


def after(rounds: int, memory: int = 12) -> Replay:
    replay = Replay.empty(memory, ROWS, F)
    for number in range(rounds):
        replay = replay.with_round(a_round(number))
    return replay


def test_the_oldest_rounds_make_room():
    """Four slots: after six rounds the first two are gone."""
    assert sorted(np.ravel(after(6).rows.reward)) == list(range(6, 18))
    assert int(after(6).count) == 6
    assert sorted(np.ravel(after(2).rows.reward)) == [0, *[0] * 6, 1, 2, 3, 4, 5]


def test_memory_is_kept_in_whole_rounds():
    assert Replay.empty(14, ROWS, F).rows.reward.shape == (4, ROWS)
    with pytest.raises(CrisptreeError, match=r"memory \(2\) must hold at least one round \(3 rows"):
        Replay.empty(2, ROWS, F)


@pytest.mark.parametrize(("rounds", "known"), [(2, range(6)), (6, range(6, 18))])
def test_rows_are_drawn_uniformly_from_those_written(rounds, known):
    n = 60_000
    drawn = after(rounds).sample(jax.random.key(0), n)
    values, counts = np.unique(drawn.reward, return_counts=True)
    assert values.tolist() == list(known)
    share = 1 / len(known)
    np.testing.assert_allclose(counts / n, share, atol=4.5 * np.sqrt(share / n))


def test_a_row_is_drawn_whole():
    drawn = after(6).sample(jax.random.key(1), 200)
    reward = np.asarray(drawn.reward)
    np.testing.assert_array_equal(drawn.observation, np.stack([reward, -reward], 1))
    np.testing.assert_array_equal(drawn.next_observation, np.stack([reward, -reward], 1) + 0.5)
    np.testing.assert_array_equal(drawn.action, reward % 3 % 2)
    np.testing.assert_array_equal(drawn.terminated, reward % 2 == 0)
    np.testing.assert_array_equal(drawn.mask, reward % 3 != 1)


def test_a_rollout_becomes_rows_with_its_times_one_after_another():
    numbers = jnp.arange(6.0).reshape(2, 3)
    no = jnp.zeros((2, 3), bool)
    seen = jnp.stack([numbers, numbers], -1)
    rollout = Rollout(
        observation=seen,
        action=numbers.astype(jnp.int32),
        log_probability=numbers,
        reward=numbers,
        running_return=numbers,
        next_observation=seen + 1,
        terminated=~no,
        done=no,
        mask=~no,
    )
    rows = transitions(rollout)
    assert rows.reward.tolist() == [0, 1, 2, 3, 4, 5]
    assert rows.next_observation[4].tolist() == [5, 5]
    assert rows.terminated.all()
