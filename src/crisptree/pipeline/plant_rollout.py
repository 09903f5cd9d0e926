"""Many trees in a plant from many starts, as one JAX program in float32: for a search, not for a
proof.

A score is what the plant's reward adds up to. Without a reward it is minus the steps to the goal;
where there is no goal either, how far the episode stays from its limits (0 … 1), or minus the steps
that it falls short.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.verify.plants.plant import Columns, Plant

Scorer = Callable[..., NDArray[np.float64]]
"""`scores(trees, starts, level=1.0)`: the score of each tree from each start, `(trees, starts)`,
with a share of the pushes."""
PUSHED_EVERY = 12
"""Steps between two pushes."""


@dataclass(frozen=True)
class PlayedBy:
    """The rules of an episode."""

    horizon: int
    push: float
    """How far states are pushed aside, as a share of the range in which they start."""
    seed: int


def scorer(plant: Plant, rules: PlayedBy) -> Scorer:
    """The function that plays trees in a plant."""
    program = jax.jit(partial(_scores, plant, rules))

    def scores(
        trees: Sequence[CrispTree], starts: NDArray[np.float64], level: float = 1.0
    ) -> NDArray[np.float64]:
        packed = jax.tree.map(jnp.asarray, _packed(trees))
        try:
            found = program(packed, jnp.asarray(starts, jnp.float32), jnp.float32(level))
        except (jax.errors.JAXTypeError, TypeError) as error:
            line = str(error).splitlines()[0][:120]
            raise CrisptreeError(
                f"the plant {plant.name} does not run in JAX; it must compute with xp: {line}"
            ) from None
        return np.asarray(found, np.float64)

    return scores


def _packed(trees: Sequence[CrispTree]) -> dict[str, NDArray]:
    """The trees as arrays of one size, `(trees, nodes, …)`, a power of two of nodes each; a leaf
    leads to itself."""
    size = 1 << max(4, max(tree.n_nodes for tree in trees).bit_length())
    found: dict[str, list[NDArray]] = {}
    for tree in trees:
        is_leaf, own = tree.feature < 0, np.arange(tree.n_nodes)
        columns = {
            "feature": np.where(is_leaf, 0, tree.feature),
            "threshold": np.where(is_leaf, np.inf, tree.threshold),
            "if_true": np.where(is_leaf, own, tree.if_true),
            "if_false": np.where(is_leaf, own, tree.if_false),
            "action": tree.action,
        }
        if tree.actions.kind == "box":
            weights = np.zeros((tree.n_nodes, len(tree.actions.names), tree.n_features))
            for node, gains in enumerate(tree.gains):
                for dimension, feature, weight in gains:
                    weights[node, dimension, feature] += weight
            columns["weights"] = weights
        for name, column in columns.items():
            room = [(0, size - len(column))] + [(0, 0)] * (column.ndim - 1)
            found.setdefault(name, []).append(np.pad(column, room))
    arrays = {name: np.stack(parts) for name, parts in found.items()}
    arrays["depth"] = np.array(max(tree.depth for tree in trees))
    arrays["low"], arrays["high"] = np.array(trees[0].actions.low), np.array(trees[0].actions.high)
    return arrays


def _scores(
    plant: Plant, rules: PlayedBy, trees: dict[str, Any], starts: jax.Array, level: jax.Array
) -> jax.Array:
    count, n = len(trees["feature"]), len(starts)
    own = jnp.repeat(jnp.arange(count), n)
    limits, goal = plant.box(plant.limits), plant.box(plant.goal)
    key = jax.random.key(rules.seed % 2**31)

    def act(seen: Columns) -> Any:
        table = jnp.stack([jnp.asarray(each, jnp.float32) for each in seen], 1)
        node = jnp.zeros(len(table), jnp.int32)

        def down(_: Any, node: jax.Array) -> jax.Array:
            value = jnp.take_along_axis(table, trees["feature"][own, node][:, None], 1)[:, 0]
            is_true = value > trees["threshold"][own, node]
            return jnp.where(is_true, trees["if_true"][own, node], trees["if_false"][own, node])

        node = jax.lax.fori_loop(0, trees["depth"], down, node)
        action = trees["action"][own, node]
        if "weights" in trees:
            action = action + jnp.einsum("ndf,nf->nd", trees["weights"][own, node], table)
            action = jnp.clip(action, trees["low"], trees["high"])
        return action if action.ndim == 1 else list(action.T)

    def step(carry: Any) -> Any:
        number, now, live, score, margin = carry
        drawn, _ = jax.random.split(jax.random.fold_in(key, number))
        columns = list(now.T)
        action = act(plant.observe(jnp, columns))
        acting = list(jnp.tile(_acting(plant, drawn, key, n), count))
        after = plant.step(jnp, columns, action, acting)
        after = jnp.stack([jnp.broadcast_to(each, len(own)) * 1.0 for each in after], 1)
        if rules.push:
            is_now = number % PUSHED_EVERY == PUSHED_EVERY - 1
            by = jnp.where(is_now, rules.push * level, 0.0)
            after = after + by * ways(plant, jax.random.fold_in(key, number), starts, after)
        values = [jnp.broadcast_to(v, len(own)) for v in plant.measure(jnp, list(after.T))]
        inside, arrived = _room(values, limits), _room(values, goal)
        outside = ~(inside >= 0)
        if plant.reward is not None:
            earned = jnp.asarray(plant.reward(jnp, columns, action, list(after.T)), jnp.float32)
        elif plant.goal:
            earned = -jnp.where(outside, 2.0 * rules.horizon - number, 1.0)
        else:
            earned = jnp.where(outside, number + 1.0 - rules.horizon, 0.0)
        score = score + jnp.where(live, earned, 0.0)
        margin = jnp.where(live, jnp.minimum(margin, 2 * inside), margin)
        over = outside | (arrived >= 0) if plant.goal else outside
        return number + 1, after, live & ~over, score, margin

    rows = len(own)
    begun = (
        jnp.array(0),
        jnp.tile(starts, (count, 1)),
        jnp.ones(rows, bool),
        jnp.zeros(rows),
        jnp.full(rows, jnp.inf),
    )
    _, _, live, score, margin = jax.lax.while_loop(
        lambda carry: (carry[0] < rules.horizon) & carry[2].any(), step, begun
    )
    if plant.reward is None and not plant.goal:
        score = jnp.where(live, margin, score)
    return score.reshape(count, n)


def ways(plant: Plant, drawn: Any, starts: jax.Array, states: jax.Array) -> jax.Array:
    """Where states `(trees · n, S)` are pushed: up or down, by the ranges in which they start.

    A start has its own pushes, whatever it is played with: what was worst stays worst. Half of the
    starts are left alone: pushes can hide that a system creeps away. Of the rest a quarter is
    pushed anywhere at each push, one always the same way, one away from zero or towards it, and one
    as one of its states lies above or below zero: an adversary's ways.
    """
    width = jnp.asarray(plant.reset_box[:, 1] - plant.reset_box[:, 0])
    own = jax.lax.bitcast_convert_type(starts.astype(jnp.float32), jnp.uint32)
    keys = jax.vmap(lambda bits: jax.random.fold_in(jax.random.key(0), bits))(
        (own * jnp.arange(1, 2 * own.shape[1], 2, dtype=jnp.uint32)).sum(axis=1)
    )

    def signs_of(key: Any) -> jax.Array:
        return jax.random.rademacher(key, width.shape, jnp.float32)

    rows = jnp.arange(len(states)) % len(starts)
    kind, asked = (
        jax.vmap(lambda key, most=most: jax.random.randint(key, (1,), 0, most))(
            jax.vmap(lambda key, most=most: jax.random.fold_in(key, most))(keys)
        )[rows]
        for most in (8, len(width))
    )
    same = jax.vmap(signs_of)(keys)[rows]
    other = jax.vmap(lambda key: signs_of(jax.random.fold_in(drawn, key)))(
        jax.vmap(lambda key: jax.random.bits(key))(keys)
    )[rows]
    signs = jnp.where(states < 0, -1.0, 1.0)
    leaning = same * jnp.take_along_axis(signs, asked, 1)
    way = jnp.select([kind == 0, kind == 1, kind == 2], [other, same, same * signs], leaning)
    return jnp.where(kind < 4, way * width, 0.0)


def _room(values: list[Any], box: NDArray[np.float64]) -> Any:
    """How far values lie inside a box, as a share of its widths; negative outside."""
    found = jnp.full(values[0].shape, jnp.inf)
    for value, (low, high) in zip(values, box, strict=True):
        width = high - low if np.isfinite(high - low) else 1.0
        if np.isfinite(low):
            found = jnp.minimum(found, (value - low) / width)
        if np.isfinite(high):
            found = jnp.minimum(found, (high - value) / width)
    return found


def _acting(plant: Plant, drawn: Any, fixed: Any, n: int) -> jax.Array:
    """The disturbances of a step, `(numbers, n)`: for a third of the episodes the same extremes at
    every step, for a third others at each, for the rest anything within the bounds."""
    box = plant.disturbance_box
    shape, kind = (len(box), n), jnp.arange(n) % 3
    share = jax.random.uniform(drawn, shape, jnp.float32)
    same = jax.random.bernoulli(fixed, 0.5, shape)
    share = jnp.where(kind == 0, same, jnp.where(kind == 1, jnp.round(share), share))
    return jnp.asarray(box[:, :1]) + share * jnp.asarray(box[:, 1:] - box[:, :1])
