"""Many crisp trees played at once in a functional environment, as one compiled program.

Trees are padded to a common size, so that one program serves all of them; a leaf leads to itself.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from crisptree.crisp import CrispTree
from crisptree.crisp.derived import terms_of
from crisptree.crisp.rounding import rounded_down
from crisptree.crisp.signature import Actions
from crisptree.envs.functional import FunctionalEnv
from crisptree.envs.seeded_episodes import advance, begin, seed_words

BLOCK, MOST_TREES = 256, 32
"""Episodes and trees of one call on a CPU."""
ACCELERATED_BLOCK, MOST_ACCELERATED_TREES = 65_536, 1024
"""The same on an accelerator, which takes hardly longer over many."""


class PaddedTree(NamedTuple):
    """A tree's columns, filled up with leaves that nothing leads to."""

    feature: Int[Array, "*trees nodes"]
    threshold: Float[Array, "*trees nodes"]
    if_true: Int[Array, "*trees nodes"]
    if_false: Int[Array, "*trees nodes"]
    action: Array
    """`(nodes,)`, or `(nodes, values)` where an action is several numbers."""
    gain_dimension: Int[Array, "*trees nodes terms"]
    gain_feature: Int[Array, "*trees nodes terms"]
    gain_weight: Float[Array, "*trees nodes terms"]
    sums: Float[Array, "*trees derived observed"]
    """Weights of the derived features."""


def padded(tree: CrispTree, n_nodes: int, n_terms: int, n_sums: int = 0) -> tuple[np.ndarray, ...]:
    """The columns of a `PaddedTree`."""
    leaf = tree.feature < 0
    itself = np.arange(tree.n_nodes)
    gains = np.zeros((3, tree.n_nodes, n_terms))
    for node, terms in enumerate(tree.gains):
        if terms:
            gains[:, node, : len(terms)] = np.array(terms, np.float64).T
    action = np.where(leaf.reshape(-1, *(1,) * (tree.action.ndim - 1)), tree.action, 0)
    parts = (
        (np.where(leaf, 0, tree.feature), np.int32),
        (rounded_down(tree.threshold), np.float32),
        (np.where(leaf, itself, tree.if_true), np.int32),
        (np.where(leaf, itself, tree.if_false), np.int32),
        (action, np.float32 if action.dtype.kind == "f" else np.int32),
        (gains[0], np.int32),
        (gains[1], np.int32),
        (gains[2], np.float32),
    )
    room = n_nodes - tree.n_nodes
    sums = np.zeros((n_sums, tree.n_features), np.float32)
    for row, terms in zip(sums, terms_of(tree.features), strict=False):
        for feature, weight in terms:
            row[feature] = weight
    return *(
        np.pad(part, [(0, room)] + [(0, 0)] * (part.ndim - 1)).astype(kind) for part, kind in parts
    ), sums


def is_accelerated() -> bool:
    """Whether compiled programs run on an accelerator."""
    return jax.default_backend() != "cpu"


def compiled_rollout(
    trees: Sequence[CrispTree], env: FunctionalEnv, seeds: Sequence[int], max_steps: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Returns, lengths, whether it terminated and whether it was cut, each `(trees, seeds)`.

    Pairs of a tree and a seed are played in blocks of one size, with trees padded to a few sizes,
    so that few programs serve all.
    """
    n_nodes = max(64, _room(max(tree.n_nodes for tree in trees)))
    most_terms = max((len(gains) for tree in trees for gains in tree.gains), default=0)
    n_terms = _room(most_terms) if most_terms else 0
    most_sums = max(len(terms_of(tree.features)) for tree in trees)
    n_sums = _room(most_sums) if most_sums else 0
    play = _player(env, max_steps)
    words = seed_words(seeds)
    results = []
    most, block = MOST_TREES, BLOCK
    if is_accelerated() and len(trees) * len(seeds) > 4 * BLOCK:
        most, block = MOST_ACCELERATED_TREES, ACCELERATED_BLOCK
    for start in range(0, len(trees), most):
        some = [padded(tree, n_nodes, n_terms, n_sums) for tree in trees[start : start + most]]
        number = np.repeat(np.arange(len(some)), len(seeds)).astype(np.int32)
        episode = np.tile(np.arange(len(seeds)), len(some))
        some += [some[0]] * (most - len(some))
        stacked = PaddedTree(*jax.device_put([np.stack(part) for part in zip(*some, strict=True)]))
        results.append(_in_blocks(play, stacked, number, words[episode], block))
    joined = (np.concatenate(parts) for parts in zip(*results, strict=True))
    returns, lengths, terminated, was_cut = (
        part.reshape(len(trees), len(seeds)) for part in joined
    )
    return returns.astype(np.float64), lengths.astype(np.int64), terminated, was_cut


def _in_blocks(
    play: Any, trees: PaddedTree, number: np.ndarray, words: np.ndarray, block: int
) -> tuple[np.ndarray, ...]:
    n = len(number)
    number = np.pad(number, (0, -n % block), mode="edge")
    words = np.pad(words, (0, -n % block), mode="edge")
    played = [
        play(trees, number[at : at + block], words[at : at + block]) for at in range(0, n, block)
    ]
    return tuple(np.concatenate(parts)[:n] for parts in zip(*played, strict=True))


def _room(n: int) -> int:
    """The next of 4, 16, 64, 256, …"""
    return 4 ** max(1, ((max(n, 1) - 1).bit_length() + 1) // 2)


def _act(tree: PaddedTree, observation: Float[Array, " F"], actions: Actions) -> Array:
    if tree.sums.shape[0]:  # nearly what the tree itself computes, in float32
        observation = jnp.concatenate([observation, tree.sums @ observation])

    def is_inner(node):
        return tree.if_true[node] != node

    def child(node):
        goes_true = observation[tree.feature[node]] > tree.threshold[node]
        return jnp.where(goes_true, tree.if_true[node], tree.if_false[node])

    leaf = jax.lax.while_loop(is_inner, child, jnp.zeros((), jnp.int32))
    action = tree.action[leaf]
    if actions.kind != "box":
        return action
    terms = tree.gain_weight[leaf] * observation[tree.gain_feature[leaf]]
    action = action.at[tree.gain_dimension[leaf]].add(terms)
    return jnp.clip(action, jnp.asarray(actions.low), jnp.asarray(actions.high))


@lru_cache(maxsize=32)
def _player(env: FunctionalEnv, max_steps: int):
    """A program that plays a block of pairs: the number of a tree, and an episode's seed word."""
    agents = () if env.n_agents == 1 else (env.n_agents,)

    def episode(tree: PaddedTree, key):
        state, observation = begin(env, key)

        def running(carry):
            return ~carry[-1]

        def step(carry):
            time, state, observation, total, _, _ = carry
            rows = observation.reshape(-1, observation.shape[-1])
            action = jax.vmap(lambda row: _act(tree, row, env.actions))(rows)
            state, at = advance(env, state, action.reshape(*agents, *action.shape[1:]))
            total = total + at.reward.reshape(-1)[0]
            ended = at.terminated.all()
            over = ended | at.truncated
            cut = ~over & (time + 1 >= max_steps)
            return time + 1, state, at.observation, total, (ended, cut), over | cut

        nothing = jnp.zeros((), bool)
        start = (jnp.int32(0), state, observation, jnp.zeros(()), (nothing, nothing), nothing)
        time, _, _, total, (ended, cut), _ = jax.lax.while_loop(running, step, start)
        return total, time, ended, cut

    def pair(trees: PaddedTree, number, word):
        tree = jax.tree.map(lambda part: part[number], trees)
        return episode(tree, jax.random.key(word))

    return jax.jit(jax.vmap(pair, in_axes=(None, 0, 0)))
