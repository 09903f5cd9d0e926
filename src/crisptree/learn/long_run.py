"""Exact returns of a policy in a known model, and of policies that differ from it in a few states.

Where episodes almost surely end before the time limit, the limit is left out: returns then solve
linear equations, which is fast, and a policy that differs in k states needs a system of k equations
(the Woodbury identity). Elsewhere returns are added up step by step.
"""

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from crisptree.learn.exact_model import Actions, ExactModel, Vector

ENDS_SOON = 1e-3
"""The time limit is left out where episodes reach it with a smaller chance than this."""
MOST_NUMBERS = 20_000_000
"""Most chances of a model that are written out in full."""
Chances = Float[np.ndarray, "states actions states"]
Rows = Int[np.ndarray, " rows"]


@runtime_checkable
class Standing(Protocol):
    """The exact figures of a policy in a model."""

    @property
    def mean(self) -> float:
        """The mean return of an episode."""
        ...

    @property
    def values(self) -> Vector:
        """The mean return from each state."""
        ...

    @property
    def visits(self) -> Vector:
        """How often each state is met in an episode."""
        ...

    def mean_with(self, rows: Rows, actions: Rows) -> float:
        """The mean return of the policy with other actions in the states `rows`."""
        ...


class Exactly:
    """Figures within the time limit, step by step."""

    def __init__(self, model: ExactModel, actions: Actions) -> None:
        self._model, self._actions = model, actions
        self.mean = model.mean_of(actions)

    @property
    def values(self) -> Vector:
        return self._model.values(self._actions)

    @property
    def visits(self) -> Vector:
        return self._model.visits(self._actions)

    def mean_with(self, rows: Rows, actions: Rows) -> float:
        changed = self._actions.copy()
        changed[rows] = actions
        return self._model.mean_of(changed)


class InTheLongRun:
    """Figures without a time limit, by linear equations."""

    def __init__(
        self,
        chances: Float[np.ndarray, "states actions states"],
        model: ExactModel,
        actions: Actions,
    ) -> None:
        self._chances, self._paid, self._actions = chances, model.paid, actions
        every = np.arange(model.n_states)
        self._inverse = np.linalg.inv(np.eye(model.n_states) - chances[every, actions])
        self.values = self._inverse @ model.paid[every, actions]
        self.visits = model.start @ self._inverse
        self.mean = float(model.start @ self.values)

    def mean_with(self, rows: Rows, actions: Rows) -> float:
        differ = actions != self._actions[rows]
        rows, actions = rows[differ], actions[differ]
        if not len(rows):
            return self.mean
        before = self._actions[rows]
        chances = self._chances[rows, actions] - self._chances[rows, before]
        paid = self._paid[rows, actions] - self._paid[rows, before]
        into = self._inverse[:, rows]
        system = np.eye(len(rows)) - chances @ into
        follows = np.linalg.solve(system, chances @ (self.values + into @ paid))
        return self.mean + float(self.visits[rows] @ (paid + follows))


class Standings:
    """Makes the figures of policies in one model."""

    def __init__(self, model: ExactModel) -> None:
        self._model = model
        n_numbers = model.n_states**2 * model.n_actions
        ends = model.most_going_on**model.horizon < ENDS_SOON
        self._chances = model.chances() if ends and n_numbers <= MOST_NUMBERS else None

    def of(self, actions: Actions) -> Standing:
        """The figures of a policy that is given by its action in each state."""
        if self._chances is None:
            return Exactly(self._model, actions)
        return InTheLongRun(self._chances, self._model, actions)
