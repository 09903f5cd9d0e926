import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.soft import MLP, baseline, critic

X = jnp.asarray(np.random.default_rng(0).normal(size=6), jnp.float32)


@pytest.mark.parametrize("n_hidden", [0, 1, 2, 8])
def test_the_baseline_has_hidden_relu_layers_as_wide_as_the_input(n_hidden):
    model = baseline(n_hidden, 6, 3, key=jax.random.key(0))
    assert [w.shape for w in model.weights] == [(6, 6)] * n_hidden + [(3, 6)]
    x = np.asarray(X, np.float64)
    for weight, bias in zip(model.weights[:-1], model.biases[:-1], strict=True):
        x = np.maximum(np.asarray(weight) @ x + bias, 0)
    outputs = np.asarray(model.weights[-1]) @ x + model.biases[-1]
    np.testing.assert_allclose(model.q_values(X), outputs, rtol=1e-5, atol=1e-7)
    expected = np.exp(outputs) / np.exp(outputs).sum()
    np.testing.assert_allclose(np.exp(model.log_policy(X)), expected, rtol=1e-5)


def test_the_critic_has_two_tanh_layers():
    model = critic(6, 5, key=jax.random.key(0))
    assert [w.shape for w in model.weights] == [(5, 6), (5, 5), (1, 5)]
    first, second, last = map(np.asarray, model.weights)
    np.testing.assert_allclose(model(X), last @ np.tanh(second @ np.tanh(first @ X)), rtol=1e-5)


def test_biases_enter_where_they_should():
    model = MLP(
        weights=(jnp.array([[1.0], [-1.0]]), jnp.array([[1.0, 10.0]])),
        biases=(jnp.array([0.5, 0.0]), jnp.array([0.25])),
        activation="relu",
    )
    assert model(jnp.array([2.0])).tolist() == [2.75]
    assert model(jnp.array([-2.0])).tolist() == [20.25]


def test_layers_start_orthogonal():
    model = MLP.random((6, 6, 2), key=jax.random.key(0), last_scale=0.01)
    np.testing.assert_allclose(model.weights[0] @ model.weights[0].T, 2 * np.eye(6), atol=1e-5)
    np.testing.assert_allclose(model.weights[1] @ model.weights[1].T, 1e-4 * np.eye(2), atol=1e-9)


@pytest.mark.parametrize("output", ["__call__", "log_policy", "q_values"])
def test_all_rows_at_once_are_the_rows_one_by_one(output):
    model = MLP.random((6, 5, 3), key=jax.random.key(0), last_scale=1.0)
    model = eqx.tree_at(lambda m: m.biases, model, (jnp.arange(5.0), jnp.arange(3.0)))
    rows = jax.random.normal(jax.random.key(1), (7, 6))
    alone = [getattr(model, output)(x) for x in rows]
    np.testing.assert_allclose(getattr(model, output)(rows.T).T, alone, rtol=1e-5, atol=1e-6)


def test_a_policy_has_tanh_layers_and_starts_undecided():
    model = MLP.policy(6, (8, 4), 3, key=jax.random.key(0))
    assert [w.shape for w in model.weights] == [(8, 6), (4, 8), (3, 4)]
    assert model.activation == "tanh"
    np.testing.assert_allclose(np.exp(model.log_policy(X)), 1 / 3, atol=0.01)
