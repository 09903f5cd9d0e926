"""Play a policy and keep everything: observations, rewards, pictures."""

import warnings
from collections.abc import Sequence
from itertools import islice
from typing import Any

import gymnasium as gym
import numpy as np

from crisptree.crisp import CrispTree
from crisptree.envs.spaces import make
from crisptree.explain.episodes import (
    PICTURES,
    make_with_pictures,
    reporting_seeds,
    steps,
)
from crisptree.show.recording import RecordedEpisode, Recording
from crisptree.show.video import VideoEncoder

MOST_STEPS = 5_000


def record(tree: CrispTree, env_id: str, *, episodes: int, seed: int = 0) -> Recording:
    """`episodes` reporting episodes with pictures; without, where the environment draws none."""
    seeds = reporting_seeds(tree, env_id, episodes, seed)
    env = make_with_pictures(env_id)
    note = "" if env.render_mode == PICTURES else f"No pictures: {env_id} draws none."
    try:
        return _recorded(tree, env, seeds, note)
    except gym.error.DependencyNotInstalled as error:  # the library that it draws with
        return _recorded(tree, make(env_id), seeds, f"No pictures: {error}.")


def _recorded(tree: CrispTree, env: gym.Env, seeds: Sequence[int], note: str) -> Recording:
    try:
        played = tuple(_episode(tree, env, each) for each in seeds)
        fps = float(env.metadata.get("render_fps") or 30)
    finally:
        env.close()
    return Recording(played, fps, note)


def _episode(tree: CrispTree, env: Any, seed: int) -> RecordedEpisode:
    """One episode; a picture is taken at every step, which also lets environments that keep
    particles for their pictures sweep them."""
    encoder = VideoEncoder() if env.render_mode == PICTURES else None
    observations, rewards, ended = [], [], ""
    for step in islice(steps(tree, env, seed), MOST_STEPS + 1):
        observations.append(step.observations)
        rewards.append(step.reward)
        ended = step.ended
        if encoder is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                encoder.add(np.asarray(env.render(), np.uint8))
    return RecordedEpisode(
        seed,
        np.stack(observations),
        np.array(rewards[1:]),
        ended or "was cut",
        None if encoder is None else encoder.video(),
    )
