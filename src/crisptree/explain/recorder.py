"""Play a policy and keep everything: observations, rewards, pictures."""

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.envs.play import Rollouts
from crisptree.envs.rollout import PICTURES
from crisptree.envs.task import Task
from crisptree.explain.episodes import recorded, reporting_seeds
from crisptree.show.recording import RecordedEpisode, Recording
from crisptree.show.video import VideoEncoder

MOST_STEPS = 5_000


def record(
    tree: CrispTree, task: Task, *, episodes: int, seed: int = 0, max_steps: int | None = None
) -> Recording:
    """`episodes` reporting episodes, with pictures if the environment draws any."""
    seeds, limit = reporting_seeds(episodes, seed), max_steps or MOST_STEPS
    fps, has_pictures = _about_pictures(task)
    encoders: dict[int, VideoEncoder] = {}
    note = "" if has_pictures else f"No pictures: {task.name} draws none."

    def on_picture(episode: int, picture: NDArray) -> None:
        encoders.setdefault(episode, VideoEncoder()).add(np.asarray(picture, np.uint8))

    try:
        played = recorded(
            tree, task, seeds, max_steps=limit, on_picture=on_picture if has_pictures else None
        )
    except CrisptreeError as error:
        if not has_pictures:
            raise
        # The library that draws may be missing; episodes can still be played.
        encoders, note = {}, f"No pictures: {error}."
        played = recorded(tree, task, seeds, max_steps=limit)
    found = tuple(
        RecordedEpisode(
            own_seed,
            _observations(played, at, task),
            _rewards(played, at),
            _ending(played, at),
            encoders[at].video() if at in encoders else None,
        )
        for at, own_seed in enumerate(seeds)
    )
    return Recording(found, fps, note, played.observations)


def _about_pictures(task: Task) -> tuple[float, bool]:
    """Steps per second, and whether the environment draws pictures."""
    env = task.make()
    metadata = env.metadata or {}
    env.close()
    return float(metadata.get("render_fps") or 30), PICTURES in (metadata.get("render_modes") or ())


def _observations(played: Rollouts, episode: int, task: Task) -> NDArray[np.float32]:
    """`(steps + 1, agents, features)`; an agent that is out stays where it was last seen."""
    assert played.observations is not None and played.final_observations is not None
    assert played.episode is not None and played.time is not None and played.agent is not None
    own = played.episode == episode
    steps = int(played.lengths[0, episode])
    seen = np.full((steps + 1, task.n_rows, task.n_features), np.nan, np.float32)
    seen[played.time[own], played.agent[own]] = played.observations[own]
    seen[-1] = played.final_observations[0, episode]
    for step in range(1, steps):
        out = np.isnan(seen[step]).all(axis=1)
        seen[step, out] = seen[step - 1, out]
    return seen


def _rewards(played: Rollouts, episode: int) -> NDArray[np.float64]:
    assert played.rewards is not None and played.episode is not None and played.time is not None
    own = played.episode == episode
    rewards = np.zeros(int(played.lengths[0, episode]))
    rewards[played.time[own]] = played.rewards[own]
    return rewards


def _ending(played: Rollouts, episode: int) -> str:
    if played.was_cut[0, episode]:
        return "was cut"
    return "terminated" if played.terminated[0, episode] else "was truncated"
