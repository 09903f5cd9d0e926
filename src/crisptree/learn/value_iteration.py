"""Exact solutions of small environments that carry their own transition table.

Value iteration: Q(s, a) = Σ p (r + γ max_a' Q(s', a')), where a terminated step has no s'. A tree
imitates a stationary policy, but is scored by undiscounted returns within the time limit. So
several discounts are tried, and the policy with the best exact return is taken.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from crisptree.base.errors import CrisptreeError
from crisptree.envs.task import Task
from crisptree.envs.transition_table import TransitionTable, transition_table
from crisptree.learn.exact_model import (
    NO_LIMIT,
    ExactModel,
    going_on,
    mean_rewards,
    start_distribution,
)

DISCOUNTS = (0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999)
TOLERANCE = 1e-9
"""Sweeps end when no value changes by more than this share of the greatest."""
MOST_SWEEPS = 50_000

Q = Float[np.ndarray, "states actions"]


class ExactPolicy:
    """The best action of each state, looked up by the state's features.

    Where several states have the same features, their values are averaged.
    """

    def __init__(self, q: Q, observations: Float[np.ndarray, "states F"]) -> None:
        rows, group = np.unique(observations, axis=0, return_inverse=True)
        group = np.asarray(group).reshape(-1)
        total = np.zeros((len(rows), q.shape[1]))
        np.add.at(total, group, q)
        self.q = total / np.bincount(group)[:, None]
        """The value of every action, for each distinct row of features."""
        self._index = {row.tobytes(): i for i, row in enumerate(rows)}

    def q_values(self, observations: Float[np.ndarray, "B F"]) -> Float[np.ndarray, "B actions"]:
        """What each action is worth in each row."""
        rows = np.ascontiguousarray(observations, np.float32)
        found = [self._index.get(row.tobytes()) for row in rows]
        if None in found:
            seen = rows[found.index(None)].tolist()
            raise CrisptreeError(f"the observation {seen} is no state of the transition table")
        return self.q[np.array(found, int)]

    def act(self, observations: Float[np.ndarray, "B F"]) -> Int[np.ndarray, " B"]:
        """The best action of each row, counted from 0; of equals, the first."""
        return greedy(self.q_values(observations))

    def regrets(self, observations: Float[np.ndarray, "B F"]) -> Float[np.ndarray, "B actions"]:
        """What each action costs in each row, compared with the best."""
        q = self.q_values(observations)
        return q.max(1, keepdims=True) - q

    def regret(self, observations: Float[np.ndarray, "B F"]) -> Float[np.ndarray, " B"]:
        """What the worst action costs in each row, compared with the best."""
        return self.regrets(observations).max(1)


def solve(task: Task, gamma: float | None = None) -> ExactPolicy:
    """The best policy of an environment that carries its transition table.

    With `gamma` for that discount; without, for the one whose policy earns most within the
    environment's time limit.
    """
    table = transition_table(task)
    if table is None:
        raise CrisptreeError(f"'{task.name}' carries no transition table to solve")
    discounts: Sequence[float] = DISCOUNTS if gamma is None else (gamma,)
    start, horizon = start_distribution(task, table), task.max_steps or NO_LIMIT
    return best_policy(table, start, horizon, discounts)


def best_policy(
    table: TransitionTable,
    start: Float[np.ndarray, " states"],
    horizon: int,
    discounts: Sequence[float] = DISCOUNTS,
) -> ExactPolicy:
    """The best policy for the discount whose policy earns most within `horizon` steps from states
    that are drawn from `start`."""
    model = ExactModel(table, start, horizon)
    solutions = [value_iteration(table, each) for each in discounts]
    earned = [model.mean_of(greedy(q)) for q in solutions]
    # Of equals the largest discount, whose values are nearest to returns.
    best = max(range(len(earned)), key=lambda i: (round(earned[i], 9), i))
    return ExactPolicy(solutions[best], table.observations)


def value_iteration(
    table: TransitionTable, gamma: float, first: Q | None = None, tolerance: float = TOLERANCE
) -> Q:
    """Q(s, a) of the best policy under discount `gamma`, from the values `first` on."""
    if not 0 < gamma < 1:
        raise CrisptreeError(f"gamma must be above 0 and below 1, not {gamma}")
    paid, following = mean_rewards(table), gamma * going_on(table)
    q = np.zeros_like(paid) if first is None else first
    for _ in range(MOST_SWEEPS):
        better = paid + (following @ q.max(1)).reshape(paid.shape)
        change = np.abs(better - q).max()
        q = better
        if change <= tolerance * max(1.0, np.abs(q).max()):
            break
    return q


def greedy(q: Q) -> Int[np.ndarray, " states"]:
    """The best action; of those equal but for rounding, the first."""
    least = q.max(1, keepdims=True) - 1e-7 * np.maximum(1, np.abs(q).max(1, keepdims=True))
    return (q >= least).argmax(1)
