import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.learn.q_targets import double_target, greedy_target, half_square, huber, of_taken

NEXT_Q = jnp.array([[1.0, 5.0], [3.0, 2.0], [4.0, 0.0]])
NEXT_TARGET_Q = jnp.array([[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]])
REWARD = jnp.array([1.0, -2.0, 0.5])
ENDS = jnp.array([False, False, True])


def test_the_target_of_eq_5_by_hand():
    """1 + ½·5, -2 + ½·3, and ½ alone where the episode terminated."""
    assert greedy_target(REWARD, ENDS, NEXT_Q, 0.5).tolist() == [3.5, -0.5, 0.5]


def test_the_double_q_target_by_hand():
    """The learner chooses actions 1, 0, 0; the target network values them at 20, 30, 50."""
    assert double_target(REWARD, ENDS, NEXT_Q, NEXT_TARGET_Q, 0.5).tolist() == [11.0, 13.0, 0.5]


def test_the_two_targets_agree_where_the_networks_do():
    one = greedy_target(REWARD, ENDS, NEXT_Q, 0.9)
    np.testing.assert_array_equal(one, double_target(REWARD, ENDS, NEXT_Q, NEXT_Q, 0.9))


def test_the_value_of_the_action_taken():
    assert of_taken(NEXT_Q, jnp.array([1, 1, 0])).tolist() == [5.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("difference", "loss", "pull"),
    [(0.0, 0.0, 0.0), (0.5, 0.125, 0.5), (-1.0, 0.5, -1.0), (3.0, 2.5, 1.0), (-7.0, 6.5, -1.0)],
)
def test_huber_is_a_square_near_and_a_line_far(difference, loss, pull):
    rows = jnp.array([difference])
    assert float(huber(rows)[0]) == loss
    assert float(jax.grad(lambda d: huber(d).sum())(rows)[0]) == pull


def test_half_a_square_pulls_by_the_difference():
    pull = jax.grad(lambda d: half_square(d).sum())(jnp.array([-7.0, 2.0]))
    assert pull.tolist() == [-7.0, 2.0]
