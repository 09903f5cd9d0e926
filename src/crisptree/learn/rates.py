"""The numbers of a learner that no program is compiled for.

Shapes, loops and choices of `Learning` make another program; a step size does not. The numbers
are arguments of the compiled programs, so a program serves every step size, discount or schedule
there is, and seeds that are learned side by side may each have their own.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Float

from crisptree.learn.config import AnyLearning, Learning

Number = float | np.floating | Float[Array, ""]


class Rates(NamedTuple):
    """`Learning`'s numbers, in the forms in which updates use them."""

    gamma: Number
    trace: Number
    """γλ."""
    lowest: Number
    """1 - ε: the least ratio of probabilities that is rewarded."""
    highest: Number
    """1 + ε."""
    entropy: Number
    entropy_change: Number
    actor: Number
    leaves: Number | None
    """As a multiple; None where leaves learn as fast as all else."""
    critic: Number
    fall: Number
    """Share of the step sizes that is gone in the end."""
    max_gradient_norm: Number
    steepness: Number | None
    """At the start; None where it is the actor's own affair."""
    steepening: Number
    """How many times steeper the tree becomes."""
    per_anneal: Number
    """One over the share of the training by which it is as steep as it gets."""


def rates_of(config: AnyLearning) -> Rates | None:
    """The numbers of `config` as float32, computed from Python's own; Q-learners have none yet."""
    if not isinstance(config, Learning):
        return None
    start, end = config.steepness or (1.0, 1.0)
    gae_lambda = config.gae_lambda if config.algorithm == "ppo" else 1.0
    numbers = Rates(
        gamma=config.gamma,
        trace=config.gamma * gae_lambda,
        lowest=1 - config.clip,
        highest=1 + config.clip,
        entropy=config.entropy,
        entropy_change=config.entropy_end - config.entropy,
        actor=config.learning_rate,
        leaves=config.leaf_rate if config.leaf_rate != 1 else None,
        critic=config.critic_rate,
        fall=1 - config.final_rate,
        max_gradient_norm=config.max_gradient_norm,
        steepness=start if config.steepness is not None else None,
        steepening=end / start,
        per_anneal=np.float32(1) / np.float32(config.anneal_until),
    )
    as_float32: Any = lambda number: None if number is None else np.float32(number)
    return Rates(*map(as_float32, numbers))


def shape_of(config: AnyLearning) -> AnyLearning:
    """`config` with all numbers of `Rates` set alike: those who share it share a program."""
    if not isinstance(config, Learning):
        return config
    default = Learning()
    numbers = ("gamma", "gae_lambda", "clip", "entropy", "entropy_end", "learning_rate")
    numbers += ("critic_rate", "final_rate", "max_gradient_norm", "anneal_until")
    return replace(
        config,
        **{name: getattr(default, name) for name in numbers},
        leaf_rate=1.0 if config.leaf_rate == 1 else 2.0,
        steepness=None if config.steepness is None else (1.0, 1.0),
    )
