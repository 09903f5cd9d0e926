"""The transition table that some environments carry: `env.unwrapped.P`, as gymnasium's toy text.

`P[state][action]` is a list of `(probability, next state, reward, terminated)`. An observation is
the number of its state, or what `env.unwrapped.observation_of(state)` says.
"""

from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from crisptree.envs.guard import guarded
from crisptree.envs.task import Task

MOST_STATES = 20_000


class TransitionTable(NamedTuple):
    """All outcomes of all actions in all states, padded with outcomes of probability 0."""

    probability: np.ndarray  # (S, A, K) float64
    next_state: np.ndarray  # (S, A, K) int64
    reward: np.ndarray  # (S, A, K) float64
    terminated: np.ndarray  # (S, A, K) bool
    observations: np.ndarray  # (S, F) float32: the features of each state


def has_transition_table(task: Task) -> bool:
    """Whether the environment carries its own model, and an observation is a state of it."""
    return transition_table(task) is not None


def transition_table(task: Task) -> TransitionTable | None:
    """The table of an environment whose observations tell the state, or None."""
    if task.actions.kind != "discrete" or task.n_agents is not None:
        return None
    env = task.make()
    try:
        table = _table_of(env)
        if table is None or len(table) > MOST_STATES or set(table) != set(range(len(table))):
            return None
        seen = _observations(env, len(table))
        if seen is None:
            return None
        with guarded(task.name, "its transition table"):
            return _as_arrays(table, seen, task)
    finally:
        env.close()


def _table_of(env: gym.Env) -> dict[int, Any] | None:
    found = getattr(env.unwrapped, "P", None)
    return found if isinstance(found, dict) and found else None


def _observations(env: gym.Env, n_states: int) -> list[Any] | None:
    """What is observed in each state, where that is known."""
    observed = getattr(env.unwrapped, "observation_of", None)
    if callable(observed):
        return [observed(state) for state in range(n_states)]
    seen = env.observation_space
    is_number = isinstance(seen, gym.spaces.Discrete) and seen.start == 0 and seen.n == n_states
    return list(range(n_states)) if is_number else None


def _as_arrays(table: Any, seen: list[Any], task: Task) -> TransitionTable:
    n_states, n_actions = len(seen), task.n_actions
    start = task.actions.start[0] if task.actions.start else 0
    most = max(len(table[s][start + a]) for s in range(n_states) for a in range(n_actions))
    shape = (n_states, n_actions, most)
    probability, reward = np.zeros(shape), np.zeros(shape)
    following, ended = np.zeros(shape, np.int64), np.zeros(shape, bool)
    for state in range(n_states):
        for action in range(n_actions):
            for k, (chance, to, paid, over) in enumerate(table[state][start + action]):
                at = state, action, k
                probability[at], following[at], reward[at] = chance, int(to), float(paid)
                ended[at] = bool(over)
    observations = task.observe_batch(seen)
    return TransitionTable(probability, following, reward, ended, observations)
