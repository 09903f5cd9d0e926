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
from crisptree.envs.functional import FunctionalEnv


class PaddedTree(NamedTuple):
    feature: Int[Array, "*trees nodes"]
    threshold: Float[Array, "*trees nodes"]
    if_true: Int[Array, "*trees nodes"]
    if_false: Int[Array, "*trees nodes"]
    action: Int[Array, "*trees nodes"]


def _power_of_two(n: int) -> int:
    return 1 << max(3, (n - 1).bit_length())


def padded(tree: CrispTree, n_nodes: int) -> PaddedTree:
    leaf = tree.feature < 0
    itself = np.arange(tree.n_nodes)
    parts = (
        np.where(leaf, 0, tree.feature),
        tree.threshold,
        np.where(leaf, itself, tree.if_true),
        np.where(leaf, itself, tree.if_false),
        np.where(leaf, tree.action, 0),
    )
    kinds = (np.int32, np.float32, np.int32, np.int32, np.int32)
    room = n_nodes - tree.n_nodes
    return PaddedTree(
        *(np.pad(p, (0, room)).astype(kind) for p, kind in zip(parts, kinds, strict=True))
    )


def play_compiled(
    trees: Sequence[CrispTree], env: FunctionalEnv, first_seed: int, episodes: int
) -> np.ndarray:
    """Returns `(trees, episodes)`; every tree meets the same episodes."""
    n_nodes = _power_of_two(max(tree.n_nodes for tree in trees))
    depth = _power_of_two(max(tree.depth for tree in trees))
    count = _power_of_two(len(trees))
    filled = [padded(tree, n_nodes) for tree in trees]
    filled += [filled[0]] * (count - len(trees))
    stacked = PaddedTree(*(np.stack(part) for part in zip(*filled, strict=True)))
    seeds = np.arange(first_seed, first_seed + episodes, dtype=np.uint32)
    return np.asarray(_player(env, depth)(stacked, seeds))[: len(trees)]


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

    over_episodes = jax.vmap(episode, in_axes=(None, 0))
    return jax.jit(jax.vmap(over_episodes, in_axes=(0, None)))
