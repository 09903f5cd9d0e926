"""The transition table that some environments carry: `env.unwrapped.P`, as gymnasium's toy text.

`P[state][action]` is a list of `(probability, next state, reward, terminated)`.
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
    """The table of an environment whose observation is the number of its state, or None."""
    if task.actions.kind != "discrete" or task.n_agents is not None:
        return None
    env = task.make()
    try:
        seen, table = env.observation_space, _table_of(env)
        if table is None or not isinstance(seen, gym.spaces.Discrete) or seen.start != 0:
            return None
        n_states, n_actions = int(seen.n), task.n_actions
        if n_states > MOST_STATES or set(table) != set(range(n_states)):
            return None
        with guarded(task.name, "its transition table"):
            return _as_arrays(table, n_states, n_actions, task)
    finally:
        env.close()


def _table_of(env: gym.Env) -> dict[int, Any] | None:
    found = getattr(env.unwrapped, "P", None)
    return found if isinstance(found, dict) and found else None


def _as_arrays(table: Any, n_states: int, n_actions: int, task: Task) -> TransitionTable:
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
    observations = task.observe_batch(list(range(n_states)))
    return TransitionTable(probability, following, reward, ended, observations)
