"""Policies that a person would write first, by the names that the domains' files give them."""

from types import SimpleNamespace

import numpy as np

from crisptree.envs.policy import FunctionPolicy, Policy
from crisptree.envs.registry import twin_of
from crisptree.envs.task import Task


def push_to_the_fall(task: Task, seed: int) -> Policy:
    """Push the cart to the side that the pole falls to."""
    return FunctionPolicy(lambda rows: (rows[:, 2] + rows[:, 3] > 0).astype(np.int64))


def gymnasium_lander(task: Task, seed: int) -> Policy:
    """The controller that gymnasium ships with its lunar lander, discrete or continuous."""
    from gymnasium.envs.box2d.lunar_lander import heuristic

    is_real = task.actions.kind == "box"
    lander = SimpleNamespace(unwrapped=SimpleNamespace(continuous=is_real))
    kind = np.float64 if is_real else np.int64
    return FunctionPolicy(lambda rows: np.array([heuristic(lander, row) for row in rows], kind))


def swing_up(task: Task, seed: int) -> Policy:
    """Pump the pendulum up with its motion, and hold it by a linear controller near the top."""

    def act(rows: np.ndarray) -> np.ndarray:
        angle, speed = np.arctan2(rows[:, 1], rows[:, 0]), rows[:, 2]
        hold = -10 * angle - 2 * speed
        # Energy of a rod of mass and length 1 under g = 10, 0 at rest at the top.
        energy = speed**2 / 6 + 5 * (rows[:, 0] - 1)
        pump = -np.sign(energy) * np.where(speed < 0, -2.0, 2.0)
        return np.clip(np.where(np.abs(angle) < 0.5, hold, pump), -2, 2)[:, None]

    return FunctionPolicy(act)


def push_with_the_motion(task: Task, seed: int) -> Policy:
    """Two leaves by hand: push gently to where the car is going."""
    return FunctionPolicy(lambda rows: np.where(rows[:, 1:2] > 0, 0.18, -0.18))


def nearest_fire(task: Task, seed: int) -> Policy:
    return _team_policy("nearest_fire", task, seed)


def attack_else_patrol(task: Task, seed: int) -> Policy:
    return _team_policy("attack_else_patrol", task, seed)


def _team_policy(name: str, task: Task, seed: int) -> Policy:
    """One of `envs.scripted`, for the rows of many teams."""
    import jax

    from crisptree.envs import scripted

    env = twin_of(task)
    assert env is not None
    policy, rng = jax.jit(jax.vmap(getattr(scripted, name))), np.random.default_rng(seed)

    def act(rows: np.ndarray) -> np.ndarray:
        teams = rows.reshape(-1, env.n_agents, env.n_features)
        keys = jax.random.split(jax.random.key(int(rng.integers(2**32))), len(teams))
        return np.asarray(policy(keys, teams)).reshape(-1)

    return FunctionPolicy(act)
