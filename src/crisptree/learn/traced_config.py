"""Configurations as pytrees: their floats are arguments of compiled programs, all else is static.

Another step size, discount or schedule then runs the same program, and seeds that learn side by
side may each have their own.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import jax
import numpy as np

from crisptree.learn.config import (
    DQNConfig,
    LearnConfig,
    PPOConfig,
    ReinforceConfig,
    SACConfig,
    static_fields,
    traced_fields,
)

Config = TypeVar("Config", bound=LearnConfig)


def register_config(kind: type[LearnConfig]) -> None:
    """Make configurations of this kind pytrees."""
    traced, static = traced_fields(kind), static_fields(kind)

    def values(config: LearnConfig, names: Sequence[str]) -> tuple[Any, ...]:
        return tuple(getattr(config, name) for name in names)

    def flatten(config: LearnConfig) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return values(config, traced), values(config, static)

    def unflatten(static_values: tuple[Any, ...], traced_values: tuple[Any, ...]) -> LearnConfig:
        # Not by the constructor, which checks plain numbers.
        config = object.__new__(kind)
        config.__dict__.update(zip(static, static_values, strict=True))
        config.__dict__.update(zip(traced, traced_values, strict=True))
        return config

    jax.tree_util.register_pytree_node(kind, flatten, unflatten)


for _kind in (PPOConfig, ReinforceConfig, DQNConfig, SACConfig):
    register_config(_kind)


def per_seed(configs: Sequence[Config]) -> Config:
    """One configuration for as many seeds, which may differ in their floats."""
    return jax.tree.map(lambda *values: np.array(values, np.float32), *configs)


def of_seed(config: Config, seed: int) -> Config:
    """That of one seed."""
    return jax.tree.map(lambda value: value[seed] if np.ndim(value) else value, config)


def for_seeds(config: Config, n_seeds: int) -> Config:
    """With a number for each seed in every traced field."""
    return jax.tree.map(lambda value: np.broadcast_to(np.float32(value), (n_seeds,)), config)
