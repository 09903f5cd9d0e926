"""Episodes of policies: the one place where they are played. No JAX here, unless a task is in JAX.

Scores, selection, imitation, visited states, recordings and baselines all call `rollout`.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.envs.envpool_envs import envpool_has
from crisptree.envs.episodes import EnvpoolEpisodes, EpisodeBatch, GymnasiumEpisodes
from crisptree.envs.gymnasium_envs import step_limit
from crisptree.envs.play import OnEpisode, Play, Recording, Rollouts
from crisptree.envs.policy import Policy
from crisptree.envs.registry import is_in_jax, twin_of
from crisptree.envs.task import Task

SIDE_BY_SIDE = 64
"""Gymnasium environments that exist at once."""
MOST_AT_ONCE = 1024
"""Episodes of envpool or JAX that run at once."""
PICTURES = "rgb_array"

OnPicture = Callable[[int, int, np.ndarray], None]
"""Gets the policy's number, the episode's, and a picture for each observation."""


def rollout(
    policies: Sequence[Policy | CrispTree],
    task: Task,
    seeds: Sequence[int],
    *,
    record: bool = False,
    max_steps: int | None = None,
    on_episode: OnEpisode | None = None,
    on_picture: OnPicture | None = None,
    fast: bool = False,
    deadline: float | None = None,
) -> Rollouts:
    """One deterministic episode for each policy and seed, side by side so that policies see
    batches. A return depends on its seed alone.

    Episodes are played in the real environment. `fast` allows the fastest one that behaves alike
    (a JAX twin, compiled whole for crisp trees, or envpool): for choosing, not for reporting.
    An episode that is not over after `max_steps` (or the environment's own limit, or 10,000) is
    cut, and so is all that is not over at the `deadline`, a time of `time.monotonic` (an episode
    that was never begun has length 0). `on_picture` is called where the environment draws pictures.
    """
    limit, n = max_steps or step_limit(task), len(policies) * len(seeds)
    if n == 0:
        empty = np.zeros((len(policies), len(seeds)))
        return Rollouts(empty, empty.astype(np.int64), empty.astype(bool), empty.astype(bool))
    if fast and not record and on_picture is None:
        compiled = _compiled(policies, task, seeds, limit)
        if compiled is not None:
            if on_episode is not None:
                on_episode(n)
            return compiled
    batch = _batch(task, n, fast=fast, pictures=on_picture is not None)
    recording = Recording() if record else None
    on_step = None if on_picture is None else _photographer(batch, on_picture, len(seeds))
    try:
        return Play(batch, policies, seeds, limit, recording, on_step, deadline).run(on_episode)
    finally:
        batch.close()


def _compiled(
    policies: Sequence[Policy | CrispTree], task: Task, seeds: Sequence[int], limit: int
) -> Rollouts | None:
    """Whole episodes in one program, where all policies are trees and the task has a JAX twin."""
    trees = [policy for policy in policies if isinstance(policy, CrispTree)]
    twin = twin_of(task) if len(trees) == len(policies) else None
    if twin is None:
        return None
    from crisptree.envs.compiled_rollout import compiled_rollout

    return Rollouts(*compiled_rollout(trees, twin, seeds, limit))


def _batch(task: Task, n: int, *, fast: bool, pictures: bool) -> EpisodeBatch:
    if pictures:
        return GymnasiumEpisodes(task, 1, render_mode=PICTURES)
    twin = twin_of(task) if fast or is_in_jax(task) else None
    if twin is not None:
        from crisptree.envs.functional_episodes import FunctionalEpisodes

        # 4, 16, 64, 256 or 1,024, so that few programs are compiled.
        slots = 4 ** max(1, math.ceil(math.log(n, 4)))
        return FunctionalEpisodes(twin, min(slots, MOST_AT_ONCE))
    if fast and envpool_has(task):
        return EnvpoolEpisodes(task, min(n, MOST_AT_ONCE))
    return GymnasiumEpisodes(task, min(n, SIDE_BY_SIDE))


def _photographer(
    batch: EpisodeBatch, on_picture: OnPicture, n_seeds: int
) -> Callable[[np.ndarray, np.ndarray], None]:
    """Takes a picture of each new observation, where the environment draws any."""
    assert isinstance(batch, GymnasiumEpisodes)

    def on_step(slots: np.ndarray, episodes: np.ndarray) -> None:
        for slot, episode in zip(slots.tolist(), episodes.tolist(), strict=True):
            if batch.envs[slot].render_mode == PICTURES:
                on_picture(episode // n_seeds, episode % n_seeds, batch.picture(slot))

    return on_step
