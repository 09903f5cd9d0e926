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
    """The controller that gymnasium ships with its lunar lander."""
    from gymnasium.envs.box2d.lunar_lander import heuristic

    discrete = SimpleNamespace(unwrapped=SimpleNamespace(continuous=False))
    return FunctionPolicy(
        lambda rows: np.array([heuristic(discrete, row) for row in rows], np.int64)
    )


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
