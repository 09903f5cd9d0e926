from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.learn.config import DQNConfig, PPOConfig
from crisptree.learn.optimizer import decayed, fresh_optimizer, gradient_step, optimizer
from crisptree.soft import AxisTree, balanced

PLAIN = {"optimizer": "sgd", "max_grad_norm": float("inf")}


def test_the_optimizers_by_hand():
    """One step from rest. A gradient of length 5 is first shortened to ½: (0.3, 0.4)."""
    gradient = jnp.array([3.0, 4.0])
    cases: tuple[tuple[Literal["adam", "rmsprop", "sgd"], np.ndarray], ...] = (
        ("rmsprop", np.array([0.3, 0.4]) / np.sqrt(0.01 * np.array([0.09, 0.16]) + 1e-8)),
        ("adam", np.array([0.3, 0.4]) / (np.array([0.3, 0.4]) + 1e-5)),
        ("sgd", np.array([0.3, 0.4])),
    )
    for name, expected in cases:
        optimise = optimizer(PPOConfig(optimizer=name, max_grad_norm=0.5))
        direction, _ = optimise.update(gradient, optimise.init(jnp.zeros(2)))
        np.testing.assert_allclose(np.asarray(direction), expected, rtol=1e-5)


@pytest.mark.parametrize("gradient", [0.0, 1e-3, 1e6])
def test_plain_steps_are_the_gradient_itself(gradient):
    plain = optimizer(DQNConfig(**PLAIN))
    step, _ = plain.update(jnp.array([gradient]), plain.init(jnp.zeros(1)))
    np.testing.assert_array_equal(step, np.array([gradient], np.float32))


def test_step_sizes_fall_linearly():
    config = PPOConfig(final_learning_rate=0.2)
    sizes = [float(decayed(0.1, config, jnp.asarray(share))) for share in (0.0, 0.5, 1.0)]
    np.testing.assert_allclose(sizes, [0.1, 0.06, 0.02], rtol=1e-6)


def test_leaves_and_gains_take_longer_steps():
    """The loss is the sum of all parameters: every direction is 1."""
    tree = AxisTree.random(balanced(4), 3, 2, key=jax.random.key(0), gains=1)
    config = PPOConfig(leaf_learning_rate=3.0, **PLAIN)

    def loss(model):
        tree, other = model
        values = [tree.comparators, tree.leaves, tree.gains, other]
        return jnp.stack([value.sum() for value in values]).sum(), {"logged": jnp.asarray(7.0)}

    model = (tree, jnp.zeros(2))
    state = fresh_optimizer(model, config)
    (stepped, other), _, value, metrics = gradient_step(
        loss, model, state, config, jnp.asarray(0.1)
    )
    np.testing.assert_allclose(stepped.comparators, tree.comparators - 0.1, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(stepped.leaves, tree.leaves - 0.3, rtol=1e-5, atol=1e-6)
    assert tree.gains is not None
    np.testing.assert_allclose(stepped.gains, tree.gains - 0.3, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(other, [-0.1, -0.1], rtol=1e-6)
    assert float(metrics["logged"]) == 7
    assert float(value) == pytest.approx(float(loss(model)[0]))
    assert bool(eqx.tree_equal(stepped.features, tree.features))
