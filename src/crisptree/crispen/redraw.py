"""Idle nodes are drawn again while a tree learns from scratch, so that every leaf is put to use.

A random node often sends all that reaches it one way: its other subtree learns nothing. Such a
node takes another feature, with a comparator amid the states that do reach it, and both its
subtrees become the one that was in use. The policy stays what it was; there is room to tell apart
what could not be told apart before.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from crisptree.learn.moments import CLIP, units
from crisptree.learn.stacks import n_seeds, pick, stack
from crisptree.learn.trainer import RESTART
from crisptree.soft import AxisTree, Topology

IDLE = 0.02
"""A node is idle if less than this share of what reaches it goes one of the ways."""
FEWEST = 30
"""With fewer states, no node is judged."""
AMID = (0.25, 0.75)


def redraw_idle_nodes(
    states: Any,
    observations: Sequence[Float[np.ndarray, "rows F"]],
    *,
    until: float,
    seed: int,
    every: int = RESTART,
) -> Any:
    """The learners' states with the idle nodes of their trees drawn again.

    It is to be called after each segment of a training, with each seed's last observations; it
    acts after every so many updates, until the progress reaches `until`.
    """
    update = int(np.max(states.update))
    progress = np.asarray(states.progress)
    if update % every or not (progress < until).any():
        return states
    trees = [pick(states.actor, i) for i in range(n_seeds(states))]
    for i in np.flatnonzero(progress < until).tolist():
        mean, deviation = units(pick(states.observations, i))
        standard = np.clip((observations[i] - mean) / deviation, -CLIP, CLIP)
        trees[i] = redrawn(trees[i], standard, np.random.default_rng([seed, update, i]))
    return eqx.tree_at(lambda s: s.actor, states, stack(trees))


def redrawn(
    tree: AxisTree, states: Float[np.ndarray, "rows F"], rng: np.random.Generator
) -> AxisTree:
    """The tree without nodes that are idle on standardised `states`, as far as its shape allows."""
    shape = tree.topology
    features, comparators = np.array(tree.features), np.array(tree.comparators)
    of_leaves = [None if part is None else np.array(part) for part in _of_leaves(tree)]
    stack = [(0 if shape.n_nodes else ~0, states)]
    while stack:
        node, here = stack.pop()
        if node < 0 or len(here) < FEWEST:
            continue
        children = shape.if_true[node], shape.if_false[node]
        goes_true = here[:, features[node]] > comparators[node]
        if min(goes_true.mean(), 1 - goes_true.mean()) < IDLE and _alike(shape, *children):
            split = _split(here, rng)
            if split is not None:
                used, idle = children if goes_true.mean() > 0.5 else children[::-1]
                for source, target in _pairs(shape, used, idle):
                    if source >= 0:
                        features[target] = features[source]
                        comparators[target] = comparators[source]
                        continue
                    for part in of_leaves:
                        if part is not None:
                            part[~target] = part[~source]
                features[node], comparators[node] = split
                goes_true = here[:, features[node]] > comparators[node]
        stack += [(children[0], here[goes_true]), (children[1], here[~goes_true])]
    leaves, gains, kept_gains = jax.tree.map(jax.device_put, of_leaves)
    return replace(
        tree,
        features=jax.device_put(features),
        comparators=jax.device_put(comparators),
        leaves=leaves,
        gains=gains,
        kept_gains=kept_gains,
    )


def _of_leaves(tree: AxisTree) -> tuple[Any, Any, Any]:
    """The arrays that have one entry for each leaf."""
    return tree.leaves, tree.gains, tree.kept_gains


def _split(
    states: Float[np.ndarray, "rows F"], rng: np.random.Generator
) -> tuple[int, float] | None:
    """A random feature that varies, and a place amid its values."""
    for feature in rng.permutation(states.shape[1]):
        values = states[:, feature]
        place = np.quantile(values, rng.uniform(*AMID))
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
    """The nodes and leaves of two subtrees of the same shape, in pairs."""
    if one < 0:
        return [(one, other)]
    return [
        (one, other),
        *_pairs(shape, shape.if_true[one], shape.if_true[other]),
        *_pairs(shape, shape.if_false[one], shape.if_false[other]),
    ]
