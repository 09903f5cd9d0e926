"""Several agents at once, by one small program instead of many tiny ones."""

from functools import lru_cache, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from crisptree import soft
from crisptree.learn.agent import Agent, create
from crisptree.learn.cache import jit_for
from crisptree.learn.config import AnyLearning, Learning
from crisptree.learn.moments import Moments
from crisptree.learn.rates import shape_of
from crisptree.learn.stacks import stack


def create_all(
    actors: list[Any],
    n_features: int,
    config: Learning,
    n_updates: int,
    *,
    key: Key[Array, ""],
    critic: soft.MLP | None = None,
    observations: Moments | None = None,
) -> Agent:
    """Stacked agents, one an actor; a critic and moments of earlier learning serve all of them."""
    return _creating(shape_of(config), n_features)(
        stack(actors),
        jax.random.split(key, len(actors)),
        jnp.asarray(n_updates, jnp.int32),
        critic,
        observations,
    )


def shapes_of_all(
    actors: list[Any],
    n_features: int,
    config: Learning,
    critic: soft.MLP | None = None,
    observations: Moments | None = None,
) -> Agent:
    """What `create_all` gives for these, without the numbers: nothing is compiled."""
    keys = jax.random.split(jax.random.key(0), len(actors))
    updates = jnp.asarray(1, jnp.int32)
    every = _every(shape_of(config), n_features)
    return eqx.filter_eval_shape(every, stack(actors), keys, updates, critic, observations)


@lru_cache(maxsize=32)
def _creating(config: AnyLearning, n_features: int):
    return jit_for(config)(_every(config, n_features))


def _every(config: AnyLearning, n_features: int):
    assert isinstance(config, Learning)

    def one(actor, key, n_updates, critic, observations) -> Agent:
        agent = create(
            actor, n_features, config, 1, key=key, critic=critic, observations=observations
        )
        return eqx.tree_at(lambda a: a.n_updates, agent, n_updates)

    return eqx.filter_vmap(one, in_axes=(eqx.if_array(0), 0, None, None, None))


def random_axis_trees(
    n: int,
    topology: soft.Topology,
    n_features: int,
    n_actions: int,
    config: Learning,
    *,
    key: Key[Array, ""],
) -> list[soft.AxisTree]:
    """`n` random axis-aligned trees, to be learned by `config`."""

    @jit_for(config)
    @eqx.filter_vmap
    def draw(key):
        return soft.AxisTree.random(topology, n_features, n_actions, key=key)

    trees = draw(jax.random.split(key, n))
    arrays, static = eqx.partition(trees, eqx.is_array)
    columns = jax.tree.map(np.asarray, arrays)
    return [eqx.combine(jax.tree.map(lambda x, i=i: x[i], columns), static) for i in range(n)]


def blank_axis_trees(
    n: int, topology: soft.Topology, n_features: int, n_actions: int
) -> list[soft.AxisTree]:
    """`n` trees of such shapes, without their numbers: nothing is compiled."""
    draw = partial(soft.AxisTree.random, topology, n_features, n_actions)
    shapes = eqx.filter_eval_shape(draw, key=jax.random.key(0))
    return n * [jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)]
