"""Several agents at once, by one small program instead of many tiny ones."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Key

from crisptree import soft
from crisptree.learn.agent import Agent, create
from crisptree.learn.cache import options_for
from crisptree.learn.config import AnyLearning, Learning
from crisptree.learn.kept import Kept
from crisptree.learn.moments import Moments
from crisptree.learn.rates import shape_of
from crisptree.learn.stacks import stack


class Beginning(NamedTuple):
    """Stacked agents that are not made yet."""

    program: Kept
    arguments: tuple

    def shapes(self) -> Agent:
        """Theirs, without the numbers: nothing is compiled."""
        return self.program.shapes(*self.arguments)

    def agents(self) -> Agent:
        return self.program(*self.arguments)


def beginning_with(
    actors: Sequence[Any],
    n_features: int,
    config: Learning,
    n_updates: int,
    *,
    key: Key[Array, ""],
    critic: soft.MLP | None = None,
    observations: Moments | None = None,
) -> Beginning:
    """One an actor; a critic and moments of earlier learning serve all of them."""
    arguments = (stack(actors), key, np.int32(n_updates), critic, observations)
    return Beginning(_creating(shape_of(config), n_features), arguments)


def beginning_at_random(
    n: int,
    topology: soft.Topology,
    n_features: int,
    n_actions: int,
    config: Learning,
    n_updates: int,
    *,
    seed: int,
    numbers: tuple[int, int],
) -> Beginning:
    """Random axis-aligned trees, `n` of them, drawn and made agents as the keys say that the seed
    gives under the two numbers."""
    program = _drawing(shape_of(config), n_features, n, topology, n_actions)
    return Beginning(program, (np.uint32(seed), np.array(numbers, np.uint32), np.int32(n_updates)))


@lru_cache(maxsize=32)
def _creating(config: AnyLearning, n_features: int) -> Kept:
    every = _every(config, n_features)
    return Kept(every, options_for(config, once=True), ("creating", config, n_features))


@lru_cache(maxsize=32)
def _drawing(
    config: AnyLearning, n_features: int, n: int, topology: soft.Topology, n_actions: int
) -> Kept:
    every = _every(config, n_features)

    def draw(seed, numbers, n_updates) -> Agent:
        for_trees, for_agents = (
            jax.random.fold_in(jax.random.key(seed), number) for number in numbers
        )

        @eqx.filter_vmap
        def trees(key):
            return soft.AxisTree.random(topology, n_features, n_actions, key=key)

        return every(trees(jax.random.split(for_trees, n)), for_agents, n_updates, None, None)

    about = ("drawing", config, n_features, n, topology, n_actions)
    return Kept(draw, options_for(config, once=True), about)


def _every(config: AnyLearning, n_features: int):
    assert isinstance(config, Learning)

    def one(actor, key, n_updates, critic, observations) -> Agent:
        agent = create(
            actor, n_features, config, 1, key=key, critic=critic, observations=observations
        )
        return eqx.tree_at(lambda a: a.n_updates, agent, n_updates)

    vmapped = eqx.filter_vmap(one, in_axes=(eqx.if_array(0), 0, None, None, None))

    def every(actors, key, n_updates, critic, observations) -> Agent:
        n = len(jax.tree.leaves(eqx.filter(actors, eqx.is_array))[0])
        return vmapped(actors, jax.random.split(key, n), n_updates, critic, observations)

    return every
