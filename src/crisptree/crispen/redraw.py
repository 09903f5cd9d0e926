"""Idle nodes are drawn again while a tree from scratch learns, so that every leaf is put to use.

A random node often sends all that reaches it one way: its other subtree learns nothing. Such a
node takes another feature, with a comparator amid the states that do reach it, and both its
subtrees become the one that was in use. The policy stays what it was; there is room to tell apart
what could not be told apart before.
"""

from collections.abc import Callable
from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from crisptree.learn.agent import Agent
from crisptree.learn.session import RESTART, Segment
from crisptree.learn.stacks import first, pick
from crisptree.soft import AxisTree, Topology

IDLE = 0.02
"""A node is idle if less than this share of what reaches it goes the one way."""
FEWEST = 30
"""Of fewer states nothing is concluded."""
AMID = (0.25, 0.75)

States = Callable[[Agent, int], Float[np.ndarray, "rows F"]]
"""Standardised states that an agent meets, from a number for the dice."""


def redrawing(segment: Segment, states: States, until: float) -> Segment:
    """The same learning; idle nodes are drawn again at each restart before `until` is reached."""

    def with_redraws(agents: Agent, n: int):
        update = first(agents.update)
        if update > 0 and update % RESTART == 0 and update < until * first(agents.n_updates):
            for start in range(len(agents.update)):
                agent, dice = pick(agents, start), np.random.default_rng([update, start])
                tree = redrawn(agent.actor, states(agent, update), dice)
                agents = eqx.tree_at(
                    lambda a: (a.actor.features, a.actor.comparators, a.actor.leaves),
                    agents,
                    tuple(
                        every.at[start].set(one)
                        for every, one in (
                            (agents.actor.features, tree.features),
                            (agents.actor.comparators, tree.comparators),
                            (agents.actor.leaves, tree.leaves),
                        )
                    ),
                )
        return segment(agents, n)

    return with_redraws


def redrawn(
    tree: AxisTree, states: Float[np.ndarray, "rows F"], dice: np.random.Generator
) -> AxisTree:
    """The tree without nodes that are idle on `states`, as far as its shape allows."""
    shape = tree.topology
    features, comparators, leaves = (
        np.array(part) for part in (tree.features, tree.comparators, tree.leaves)
    )
    waiting = [(0, states)]
    while waiting:
        node, here = waiting.pop()
        if node < 0 or len(here) < FEWEST:
            continue
        children = shape.if_true[node], shape.if_false[node]
        goes_true = here[:, features[node]] > comparators[node]
        if min(goes_true.mean(), 1 - goes_true.mean()) < IDLE and _alike(shape, *children):
            split = _split(here, dice)
            if split is not None:
                used, idle = children if goes_true.mean() > 0.5 else children[::-1]
                for source, target in _pairs(shape, used, idle):
                    if source < 0:
                        leaves[~target] = leaves[~source]
                    else:
                        features[target] = features[source]
                        comparators[target] = comparators[source]
                features[node], comparators[node] = split
                goes_true = here[:, features[node]] > comparators[node]
        waiting += [(children[0], here[goes_true]), (children[1], here[~goes_true])]
    return replace(
        tree,
        features=jnp.asarray(features),
        comparators=jnp.asarray(comparators),
        leaves=jnp.asarray(leaves),
    )


def _split(
    states: Float[np.ndarray, "rows F"], dice: np.random.Generator
) -> tuple[int, float] | None:
    """A random feature that varies, and a place amid its values."""
    for feature in dice.permutation(states.shape[1]):
        values = states[:, feature]
        place = np.quantile(values, dice.uniform(*AMID))
        below, above = values[values <= place], values[values > place]
        if min(len(below), len(above)) >= 0.1 * len(values):
            return int(feature), float((below.max() + above.min()) / 2)
    return None


def _alike(shape: Topology, one: int, other: int) -> bool:
    """Whether two subtrees have the same shape."""
    if one < 0 or other < 0:
        return one < 0 and other < 0
    return _alike(shape, shape.if_true[one], shape.if_true[other]) and _alike(
        shape, shape.if_false[one], shape.if_false[other]
    )


def _pairs(shape: Topology, one: int, other: int) -> list[tuple[int, int]]:
    """Nodes and leaves of two subtrees of the same shape, side by side."""
    if one < 0:
        return [(one, other)]
    return [
        (one, other),
        *_pairs(shape, shape.if_true[one], shape.if_true[other]),
        *_pairs(shape, shape.if_false[one], shape.if_false[other]),
    ]
