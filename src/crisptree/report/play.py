"""Unseen episodes for the page: scores, the states that were met, the worst one once more."""

import os
import struct
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.envs.evaluate import Score
from crisptree.envs.play import Rollouts
from crisptree.envs.rollout import PICTURES, rollout
from crisptree.envs.seeds import episode_seeds
from crisptree.envs.task import Task
from crisptree.explain.episodes import recorded
from crisptree.report.review import Episode, Played

MOST_RECORDED = 100
"""Episodes whose states are counted in the tree."""
PICTURES_SHOWN = 6
WIDEST = 400
"""Pixels of a picture's width."""


def played(tree: CrispTree, task: Task, episodes: int, seed: int) -> Played:
    """The score over `episodes` reporting episodes, as `crisptree evaluate` plays them."""
    seeds = episode_seeds("reporting", seed, episodes)
    first = rollout([tree], task, seeds[:MOST_RECORDED], record=True)
    parts = [first]
    if len(seeds) > MOST_RECORDED:
        parts.append(rollout([tree], task, seeds[MOST_RECORDED:]))
    returns = np.concatenate([part.returns[0] for part in parts])
    lengths = np.concatenate([part.lengths[0] for part in parts])
    cut = sum(part.cut for part in parts)
    score = Score(task.name, seed, tuple(returns.tolist()), tuple(seeds), cut)
    assert first.observations is not None
    at = int(np.argmin(returns))
    worst = _episode(tree, task, seeds[at], int(lengths[at]))
    return Played(score, lengths, first.observations, min(episodes, MOST_RECORDED), worst)


def _episode(tree: CrispTree, task: Task, seed: int, steps: int) -> Episode | None:
    """The episode of a seed once more, with pictures; None for a team, whose agents are many."""
    if task.n_agents is not None:
        return None
    # Pictures need no window, and SDL would complain without one.
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    wanted = set(np.linspace(0, steps, PICTURES_SHOWN).astype(int).tolist())
    taken: list[tuple[int, bytes]] = []
    seen = 0

    def on_picture(_: int, picture: NDArray) -> None:
        nonlocal seen
        if seen in wanted:
            taken.append((seen, as_png(np.asarray(picture, np.uint8))))
        seen += 1

    again = None
    if _draws(task):
        try:
            again = recorded(tree, task, [seed], max_steps=max(steps, 1), on_picture=on_picture)
        except CrisptreeError:
            taken.clear()  # the library that draws may be missing
    if again is None:
        again = recorded(tree, task, [seed], max_steps=max(steps, 1))
    assert again.observations is not None
    return Episode(
        seed,
        float(again.returns[0, 0]),
        _ending(again),
        again.observations,
        tree.apply(again.observations),
        tuple(taken),
    )


def _draws(task: Task) -> bool:
    env = task.make()
    modes = (env.metadata or {}).get("render_modes") or ()
    env.close()
    return PICTURES in modes


def _ending(played: Rollouts) -> str:
    if played.terminated[0, 0]:
        return "terminated"
    return "was cut" if played.was_cut[0, 0] else "was truncated by the time limit"


def as_png(picture: NDArray[np.uint8]) -> bytes:
    """An RGB picture `(height, width, 3)` as a PNG file, every second pixel of a large one."""
    step = -(-picture.shape[1] // WIDEST)
    small = np.ascontiguousarray(picture[::step, ::step, :3])
    height, width, _ = small.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = small.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts: Sequence[tuple[bytes, bytes]] = (
        (b"IHDR", header),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)
