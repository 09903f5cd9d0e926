import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.learn.replay import Replay, Transitions

ROWS, F = 3, 2


def some_transitions(number: int, rows: int = ROWS) -> Transitions:
    """Rows that know when they were written: rewards 3k, 3k + 1, 3k + 2."""
    reward = jnp.arange(rows, dtype=jnp.float32) + rows * number
    seen = jnp.stack([reward, -reward], 1)
    return Transitions(
        observation=seen,
        action=reward.astype(jnp.int32) % 2,
        reward=reward,
        next_observation=seen + 0.5,
        terminated=reward % 2 == 0,
        mask=reward % 3 != 1,
    )


def after(times: int, size: int = 10) -> Replay:
    replay = Replay.empty(size, F, jnp.zeros((), jnp.int32))
    for number in range(times):
        replay = replay.with_transitions(some_transitions(number))
    return replay


def test_the_oldest_make_room():
    """Ten places: after 18 transitions the first eight are gone."""
    assert sorted(after(6).rows.reward.tolist()) == list(range(8, 18))
    assert int(after(6).n_written) == 18
    assert sorted(after(2).rows.reward.tolist()) == [0, *[0] * 4, 1, 2, 3, 4, 5]


def test_more_than_there_is_room_for():
    with pytest.raises(CrisptreeError, match=r"buffer_size \(10\) must hold the 11 transitions"):
        after(0).with_transitions(some_transitions(0, rows=11))


@pytest.mark.parametrize(("times", "known"), [(2, range(6)), (6, range(8, 18))])
def test_rows_are_drawn_uniformly_from_those_written(times, known):
    n = 60_000
    drawn = after(times).sample(jax.random.key(0), n)
    values, counts = np.unique(drawn.reward, return_counts=True)
    assert values.tolist() == list(known)
    share = 1 / len(known)
    np.testing.assert_allclose(counts / n, share, atol=4.5 * np.sqrt(share / n))


def test_a_row_is_drawn_whole():
    drawn = after(6).sample(jax.random.key(1), 200)
    reward = np.asarray(drawn.reward)
    np.testing.assert_array_equal(drawn.observation, np.stack([reward, -reward], 1))
    np.testing.assert_array_equal(drawn.next_observation, np.stack([reward, -reward], 1) + 0.5)
    np.testing.assert_array_equal(drawn.action, reward % 2)
    np.testing.assert_array_equal(drawn.terminated, reward % 2 == 0)
    np.testing.assert_array_equal(drawn.mask, reward % 3 != 1)


def test_actions_may_be_vectors():
    replay = Replay.empty(4, F, jnp.zeros(2))
    fresh = some_transitions(0)._replace(action=jnp.arange(6.0).reshape(3, 2))
    assert replay.with_transitions(fresh).rows.action[:3].tolist() == [[0, 1], [2, 3], [4, 5]]
