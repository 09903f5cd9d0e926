"""Policies that nobody trains: random actions, and a script a domain."""

from types import SimpleNamespace

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.crispen.distill import Teacher
from crisptree.envs.registry import functional_env
from crisptree.envs.spaces import Task
from crisptree.lab.experiments.scoring import Acting


def random_policy(task: Task, seed: int) -> Acting:
    """Any action, each as likely."""
    choose = np.random.default_rng(seed)
    return Acting(lambda states: choose.integers(task.n_actions, size=len(states)))


def scripted_policy(task: Task, seed: int) -> Acting:
    """What a person would write first."""
    if task.env_id not in SCRIPTS:
        raise CrisptreeError(f"no script for {task.env_id}: leave 'scripted' out of --models")
    return Acting(SCRIPTS[task.env_id][1](task, seed))


def _towards_the_fall(task: Task, seed: int) -> Teacher:
    return lambda states: (states[:, 2] + states[:, 3] > 0).astype(np.int64)


def _heuristic_lander(task: Task, seed: int) -> Teacher:
    """The controller that gymnasium ships with its lunar lander."""
    from gymnasium.envs.box2d.lunar_lander import heuristic

    discrete = SimpleNamespace(unwrapped=SimpleNamespace(continuous=False))
    return lambda states: np.array([heuristic(discrete, state) for state in states], np.int64)


def _team_script(name: str):
    """One of `envs.scripted`, for the rows of many teams."""

    def made(task: Task, seed: int) -> Teacher:
        import jax

        from crisptree.envs import scripted

        env, policy = functional_env(task.env_id), getattr(scripted, name)
        act = jax.jit(jax.vmap(policy))
        key = jax.random.key(seed)

        def teach(states: np.ndarray) -> np.ndarray:
            nonlocal key
            teams = states.reshape(-1, env.n_agents, env.n_features)
            key, now = jax.random.split(key)
            return np.asarray(act(jax.random.split(now, len(teams)), teams)).reshape(-1)

        return teach

    return made


SCRIPTS = {
    "CartPole-v1": ("push to where the pole falls", _towards_the_fall),
    "LunarLander-v3": ("gymnasium's controller", _heuristic_lander),
    "crisptree/Wildfire-v0": ("fly to the nearer fire", _team_script("nearest_fire")),
    "crisptree/Zerglings-v0": ("attack, else patrol", _team_script("attack_else_patrol")),
}
"""What each script does, and how it is made."""
