"""Many crisp trees played at once in a functional environment, as one compiled program.

Trees are padded to a common size, so that one program serves all of them; a leaf leads to itself.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from crisptree.crisp import CrispTree
from crisptree.crispen.rounding import rounded_down
from crisptree.envs.functional import FunctionalEnv

BLOCK = 1024
MOST_TREES = 32


class PaddedTree(NamedTuple):
    feature: Int[Array, "*trees nodes"]
    threshold: Float[Array, "*trees nodes"]
    if_true: Int[Array, "*trees nodes"]
    if_false: Int[Array, "*trees nodes"]
    action: Int[Array, "*trees nodes"]


def padded(tree: CrispTree, n_nodes: int) -> tuple[np.ndarray, ...]:
    """The columns of a `PaddedTree`."""
    leaf = tree.feature < 0
    itself = np.arange(tree.n_nodes)
    parts = (
        np.where(leaf, 0, tree.feature),
        rounded_down(tree.threshold),
        np.where(leaf, itself, tree.if_true),
        np.where(leaf, itself, tree.if_false),
        np.where(leaf, tree.action, 0),
    )
    kinds = (np.int32, np.float32, np.int32, np.int32, np.int32)
    room = n_nodes - tree.n_nodes
    return tuple(
        np.pad(part, (0, room)).astype(kind) for part, kind in zip(parts, kinds, strict=True)
    )


def play_compiled(
    trees: Sequence[CrispTree], env: FunctionalEnv, first_seed: int, episodes: int
) -> np.ndarray:
    """Returns `(trees, episodes)`; every tree meets the same episodes.

    Pairs of a tree and an episode are played in blocks of one size, with trees padded to a few
    sizes: whatever is asked, the program is there already.
    """
    n_nodes = max(64, _room(max(tree.n_nodes for tree in trees)))
    depth = _room(max(tree.depth for tree in trees))
    blocks = []
    for start in range(0, len(trees), MOST_TREES):
        some = [padded(tree, n_nodes) for tree in trees[start : start + MOST_TREES]]
        number = np.repeat(np.arange(len(some)), episodes)
        seed = np.tile(np.arange(first_seed, first_seed + episodes), len(some))
        some += [some[0]] * (MOST_TREES - len(some))
        stacked = PaddedTree(*(jnp.asarray(np.stack(part)) for part in zip(*some, strict=True)))
        blocks.append(_play_pairs(env, depth, stacked, number, seed))
    return np.concatenate(blocks).reshape(len(trees), episodes)


def _play_pairs(
    env: FunctionalEnv, depth: int, trees: PaddedTree, number: np.ndarray, seed: np.ndarray
) -> np.ndarray:
    n = len(number)
    fill = -n % BLOCK
    number, seed = (np.pad(part, (0, fill), mode="edge") for part in (number, seed))
    play = _player(env, depth)
    returns = [
        play(
            trees, number[at : at + BLOCK].astype(np.int32), seed[at : at + BLOCK].astype(np.uint32)
        )
        for at in range(0, n, BLOCK)
    ]
    return np.concatenate(returns)[:n]


def _room(n: int) -> int:
    """The next of 4, 16, 64, 256, …"""
    return 4 ** max(1, ((max(n, 1) - 1).bit_length() + 1) // 2)


@lru_cache(maxsize=32)
def _player(env: FunctionalEnv, depth: int):
    def act(tree: PaddedTree, observation: Float[Array, " F"]) -> Int[Array, ""]:
        def down(_, node):
            goes_true = observation[tree.feature[node]] > tree.threshold[node]
            return jnp.where(goes_true, tree.if_true[node], tree.if_false[node])

        return tree.action[jax.lax.fori_loop(0, depth, down, jnp.zeros((), jnp.int32))]

    def episode(tree: PaddedTree, seed):
        key = jax.random.key(seed)
        state, observation = env.reset(jax.random.fold_in(key, 0))
        rows = observation.shape[:-1]

        def running(carry):
            return ~carry[-1]

        def step(carry):
            time, state, observation, alive, total, _ = carry
            flat = observation.reshape(-1, observation.shape[-1])
            action = jax.vmap(act, in_axes=(None, 0))(tree, flat).reshape(rows)
            at = env.step(jax.random.fold_in(key, time + 1), state, action)
            team = jnp.where(alive, at.reward, 0.0).sum() / jnp.maximum(alive.sum(), 1)
            over = at.truncated | at.terminated.all()
            return time + 1, at.state, at.observation, alive & ~at.terminated, total + team, over

        start = (0, state, observation, jnp.ones(rows, bool), jnp.zeros(()), jnp.zeros((), bool))
        return jax.lax.while_loop(running, step, start)[4]

    def pair(trees: PaddedTree, number, seed):
        return episode(jax.tree.map(lambda part: part[number], trees), seed)

    return jax.jit(jax.vmap(pair, in_axes=(None, 0, 0)))
