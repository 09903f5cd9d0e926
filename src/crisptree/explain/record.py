"""Play a policy and keep everything: observations, rewards, pictures."""

import warnings
from typing import Any

import gymnasium as gym
import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.envs.seeds import episode_seeds
from crisptree.envs.spaces import describe, make, team_size
from crisptree.show.film import Camera
from crisptree.show.replay import Episode, Replay

MOST_STEPS = 5_000
PICTURES = "rgb_array"


def record(tree: CrispTree, env_id: str, *, episodes: int, seed: int = 0) -> Replay:
    """`episodes` reporting episodes with pictures; without, where the environment draws none."""
    _check(tree, env_id)
    env, note = _with_pictures(env_id)
    try:
        seeds = episode_seeds("reporting", seed, episodes)
        played = tuple(_episode(tree, env, each) for each in seeds)
        fps = float(env.metadata.get("render_fps") or 30)
    finally:
        env.close()
    return Replay(played, fps, note)


def _with_pictures(env_id: str) -> tuple[gym.Env, str]:
    env = make(env_id)
    if PICTURES not in (env.metadata.get("render_modes") or ()):
        return env, f"No pictures: {env_id} draws none."
    env.close()
    return make(env_id, render_mode=PICTURES), ""


def _check(tree: CrispTree, env_id: str) -> None:
    task = describe(env_id)
    if task.n_features != tree.n_features:
        raise CrisptreeError(
            f"the policy takes {tree.n_features} numbers, '{env_id}' gives {task.n_features}"
        )
    if task.n_actions != tree.n_actions:
        raise CrisptreeError(
            f"the policy has {tree.n_actions} actions, '{env_id}' has {task.n_actions}"
        )


def _episode(tree: CrispTree, env: Any, seed: int) -> Episode:
    """One episode; a picture is taken at every step, which also lets environments that keep
    particles for their pictures sweep them."""
    n_agents = team_size(env)
    first = int(env.action_space.start) if n_agents is None else 0
    camera = Camera() if env.render_mode == PICTURES else None
    rows = lambda seen: np.array(seen).reshape(n_agents or 1, -1)
    observations, rewards = [rows(env.reset(seed=seed)[0])], []
    ended = "was cut"
    _take(camera, env)
    for _ in range(MOST_STEPS):
        actions = (tree.predict(observations[-1])[0] + first).tolist()
        at, reward, terminated, truncated, _ = env.step(actions if n_agents else actions[0])
        observations.append(rows(at))
        rewards.append(float(reward))
        _take(camera, env)
        if terminated or truncated:
            ended = "terminated" if terminated else "was truncated"
            break
    film = None if camera is None else camera.film()
    return Episode(seed, np.stack(observations), np.array(rewards), ended, film)


def _take(camera: Camera | None, env: Any) -> None:
    if camera is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            camera.take(np.asarray(env.render(), np.uint8))
