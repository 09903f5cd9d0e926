import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.learn import losses

KEPT = jnp.array([True, True, False, True])


def test_a_mean_over_what_is_not_masked():
    assert float(losses.masked_mean(jnp.array([1.0, 2.0, 100.0, 6.0]), KEPT)) == 3
    assert float(losses.masked_mean(jnp.ones(4), jnp.zeros(4, bool))) == 0


def test_standardised_rows():
    x = np.asarray(losses.standardised(jnp.array([1.0, 2.0, 100.0, 6.0]), KEPT))[[0, 1, 3]]
    np.testing.assert_allclose([x.mean(), x.std()], [0, 1], atol=1e-6)
    assert losses.standardised(jnp.full(4, 7.0), KEPT).tolist() == [0, 0, 0, 0]


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
def test_the_clipped_surrogate_by_hand(ratio, advantage, objective, slope):
    """The loss is minus the objective; its slope is in the ratio of probabilities."""
    old = jnp.log(jnp.array([0.25]))

    def loss(ratio):
        return losses.clipped_surrogate(
            jnp.log(ratio)[None] + old, old, jnp.array([advantage]), jnp.array([True]), 0.8, 1.2
        )

    value, gradient = jax.value_and_grad(loss)(jnp.asarray(ratio))
    assert float(value) == pytest.approx(-objective, rel=1e-5)
    assert float(gradient) == pytest.approx(-slope, rel=1e-5)


def test_the_policy_gradient_is_advantage_times_the_score():
    log_probability = jnp.log(jnp.array([0.5, 0.25, 0.9, 0.1]))
    advantage = jnp.array([2.0, -1.0, 50.0, 4.0])
    gradient = jax.grad(losses.policy_gradient)(log_probability, advantage, KEPT)
    np.testing.assert_allclose(gradient, [-2 / 3, 1 / 3, 0, -4 / 3], rtol=1e-6)


def test_entropy():
    policy = jnp.array([[0.5, 0.5], [1 - 1e-7, 1e-7], [0.3, 0.7], [0.25, 0.75]])
    expected = [np.log(2), 0, -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))]
    assert float(losses.entropy(jnp.log(policy), KEPT)) == pytest.approx(
        np.mean(expected), abs=1e-5
    )


def test_squared_error():
    error = losses.squared_error(
        jnp.array([1.0, 2.0, 3.0, 4.0]), jnp.array([0.0, 4.0, 9.0, 4.0]), KEPT
    )
    assert float(error) == pytest.approx(0.5 * (1 + 4 + 0) / 3)
