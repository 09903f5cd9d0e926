"""Gradient steps: clipped, scaled by Adam or RMSProp, and as long as the schedule says."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import optax
from jaxtyping import Array, Float

import crisptree.learn.traced_config  # noqa: F401 (makes configurations pytrees)
from crisptree.learn.config import LearnConfig

Loss = Callable[[Any], tuple[Float[Array, ""], dict[str, Array]]]
"""From a model to its loss and what to log."""


def optimizer(config: LearnConfig) -> optax.GradientTransformation:
    """Directions only; `gradient_step` applies the step size."""
    scale = {
        "adam": optax.scale_by_adam(eps=1e-5),
        "rmsprop": optax.scale_by_rms(decay=0.99),
        "sgd": optax.identity(),
    }
    clip: Any = optax.clip_by_global_norm  # it takes traced numbers too, though it says float
    return optax.chain(clip(config.max_grad_norm), scale[config.optimizer])


def fresh_optimizer(model: Any, config: LearnConfig) -> Any:
    """The optimizer's state before the first step."""
    return optimizer(config).init(eqx.filter(model, eqx.is_inexact_array))


def gradient_step(
    loss: Loss,
    model: Any,
    optimizer_state: Any,
    config: LearnConfig,
    learning_rate: Float[Array, ""],
) -> tuple[Any, Any, Float[Array, ""], dict[str, Array]]:
    """`(model, optimizer state, loss, what to log)` after one step down the gradient.

    The leaves of a tree take steps `leaf_learning_rate` times as long.
    """
    (value, metrics), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(model)
    direction, optimizer_state = optimizer(config).update(gradient, optimizer_state)

    def step(path: tuple, direction: Array) -> Array:
        is_leaf = any(getattr(part, "name", None) in ("leaves", "gains") for part in path)
        return -learning_rate * (config.leaf_learning_rate if is_leaf else 1.0) * direction

    steps = jax.tree_util.tree_map_with_path(step, direction)
    return eqx.apply_updates(model, steps), optimizer_state, value, metrics


def decayed(
    learning_rate: Any, config: LearnConfig, progress: Float[Array, ""]
) -> Float[Array, ""]:
    """The step size at this progress: linear from the whole to `final_learning_rate` of it."""
    return learning_rate * (1 - (1 - config.final_learning_rate) * progress)
