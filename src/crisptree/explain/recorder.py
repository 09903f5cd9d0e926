"""Play a policy and keep everything: observations, rewards, pictures."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.envs.play import Rollouts
from crisptree.envs.rollout import PICTURES, rollout
from crisptree.envs.task import Task
from crisptree.explain.episodes import reporting_seeds, task_for
from crisptree.show.recording import RecordedEpisode, Recording
from crisptree.show.video import VideoEncoder

MOST_STEPS = 5_000


def record(tree: CrispTree, env: str | Task, *, episodes: int, seed: int = 0) -> Recording:
    """`episodes` reporting episodes with pictures; without, where the environment draws none."""
    task = task_for(tree, env)
    seeds = reporting_seeds(tree, task, episodes, seed)
    fps, draws = _about_pictures(task)
    if not draws:
        return _recorded(tree, task, seeds, fps, f"No pictures: {task.name} draws none.")
    encoders: dict[int, VideoEncoder] = defaultdict(VideoEncoder)

    def on_picture(_: int, episode: int, picture: NDArray) -> None:
        encoders[episode].add(np.asarray(picture, np.uint8))

    try:
        played = rollout(
            [tree], task, seeds, record=True, max_steps=MOST_STEPS, on_picture=on_picture
        )
    except CrisptreeError as error:  # such as the library that it draws with
        return _recorded(tree, task, seeds, fps, f"No pictures: {error}.")
    return Recording(_episodes(played, seeds, encoders), fps, "")


def _about_pictures(task: Task) -> tuple[float, bool]:
    """Steps a second, and whether the environment draws pictures."""
    env = task.make()
    metadata = env.metadata or {}
    env.close()
    return float(metadata.get("render_fps") or 30), PICTURES in (metadata.get("render_modes") or ())


def _recorded(tree: CrispTree, task: Task, seeds: list[int], fps: float, note: str) -> Recording:
    played = rollout([tree], task, seeds, record=True, max_steps=MOST_STEPS)
    return Recording(_episodes(played, seeds, {}), fps, note)


def _episodes(
    played: Rollouts, seeds: list[int], encoders: dict[int, VideoEncoder]
) -> tuple[RecordedEpisode, ...]:
    return tuple(
        RecordedEpisode(
            seed,
            *_what_happened(played, number),
            _how_it_ended(played, number),
            encoders[number].video() if number in encoders else None,
        )
        for number, seed in enumerate(seeds)
    )


def _what_happened(played: Rollouts, number: int) -> tuple[NDArray, NDArray[np.float64]]:
    """Observations `(steps + 1, agents, F)` and rewards; who is out stays where it was."""
    assert played.observations is not None and played.final_observations is not None
    assert played.episode is not None and played.time is not None
    assert played.agent is not None and played.rewards is not None
    rows = played.episode == number
    time, agent = played.time[rows], played.agent[rows]
    final = played.final_observations[0, number]
    seen = np.full((played.lengths[0, number] + 1, *final.shape), np.nan, np.float32)
    seen[time, agent], seen[-1] = played.observations[rows], final
    for at in range(1, len(seen)):
        seen[at] = np.where(np.isnan(seen[at]), seen[at - 1], seen[at])
    rewards = np.zeros(len(seen) - 1)
    rewards[time] = played.rewards[rows]
    return seen, rewards


def _how_it_ended(played: Rollouts, number: int) -> str:
    if played.was_cut[0, number]:
        return "was cut"
    return "terminated" if played.terminated[0, number] else "was truncated"
