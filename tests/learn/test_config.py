from dataclasses import fields, replace
from typing import Any

import jax
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.learn.config import (
    DQNConfig,
    PPOConfig,
    ReinforceConfig,
    SACConfig,
    static_fields,
    traced_fields,
)
from crisptree.learn.traced_config import for_seeds, of_seed, per_seed

CONFIGS = [PPOConfig, ReinforceConfig, DQNConfig, SACConfig]


@pytest.mark.parametrize("kind", CONFIGS)
def test_numbers_are_traced_and_all_else_is_part_of_the_program(kind):
    assert {*traced_fields(kind), *static_fields(kind)} == {f.name for f in fields(kind)}
    assert {"gamma", "learning_rate", "steepness", "plateau_speedup"} <= {*traced_fields(kind)}
    assert {"n_envs", "n_steps", "optimizer", "normalize_rewards"} <= {*static_fields(kind)}
    assert len(jax.tree.leaves(kind())) == len(traced_fields(kind)) - 2  # gamma, steepness
    filled = kind(gamma=0.9, steepness=(1.0, 2.0))
    assert len(jax.tree.leaves(filled)) == len(traced_fields(kind)) + 1


def test_another_number_runs_the_same_program():
    compiled = []

    @jax.jit
    def program(config: PPOConfig):
        compiled.append(config.n_steps)
        return config.discount * config.n_steps

    config = PPOConfig(n_steps=16, gamma=0.99)
    assert float(program(config)) == pytest.approx(0.99 * 16)
    assert float(program(replace(config, gamma=0.5, learning_rate=3.0))) == 8
    assert compiled == [16]
    assert float(program(replace(config, n_steps=32))) == pytest.approx(0.99 * 32)
    assert compiled == [16, 32]


def test_seeds_may_each_have_their_own_numbers():
    config = per_seed([PPOConfig(gamma=0.5), PPOConfig(gamma=0.25, steepness=None)])
    assert jax.vmap(lambda one: one.discount * one.n_steps)(config).tolist() == [64, 32]
    assert of_seed(config, 1) == PPOConfig(gamma=0.25) != of_seed(config, 0)


def test_one_configuration_for_all_seeds():
    config: Any = for_seeds(PPOConfig(gamma=0.5, steepness=(2.0, 8.0)), 3)
    assert config.gamma.tolist() == [0.5] * 3
    assert config.steepness[1].tolist() == [8.0] * 3
    assert config.n_envs == 16


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        (PPOConfig, {"n_envs": 0}, "n_envs must be at least 1, not 0"),
        (PPOConfig, {"n_epochs": -1}, "n_epochs must be at least 1"),
        (PPOConfig, {"n_steps": 12}, r"n_minibatches \(8\) must divide n_steps \(12\)"),
        (PPOConfig, {"gamma": 0.0}, "gamma must be above 0"),
        (PPOConfig, {"gamma": 1.01}, "gamma must be from 0 to 1, not 1.01"),
        (PPOConfig, {"gamma": float("nan")}, "gamma must be from 0 to 1, not nan"),
        (PPOConfig, {"learning_rate": -1e-3}, "learning_rate must be above 0"),
        (PPOConfig, {"clip_range": 0.0}, "clip_range must be above 0"),
        (PPOConfig, {"plateau_speedup": 0.5}, "plateau_speedup must be at least 1, not 0.5"),
        (PPOConfig, {"steepness": (2.0, 0.0)}, r"steepness must be two numbers above 0"),
        (ReinforceConfig, {"critic_width": 0}, "critic_width must be at least 1"),
        (DQNConfig, {"batch_size": 0}, "batch_size must be at least 1"),
        (DQNConfig, {"epsilon_end": 1.5}, "epsilon_end must be from 0 to 1"),
        (DQNConfig, {"explore_until": 0.0}, "explore_until must be above 0"),
        (DQNConfig, {"learning_starts": -1}, "learning_starts must be at least 0"),
        (SACConfig, {"tau": 0.0}, "tau must be above 0"),
        (SACConfig, {"buffer_size": 100}, r"buffer_size \(100\) must hold the 512 steps"),
        (DQNConfig, {"buffer_size": 100}, r"buffer_size \(100\) must hold the 512 steps"),
    ],
)
def test_what_cannot_be_is_refused(kind, wrong, message):
    with pytest.raises(CrisptreeError, match=message):
        kind(**wrong)


def test_the_discount_is_what_was_given():
    assert PPOConfig().discount == 0.99
    assert PPOConfig(gamma=0.9).discount == 0.9


def test_steps_per_update():
    assert PPOConfig(n_envs=4, n_steps=16).steps_per_update == 64
