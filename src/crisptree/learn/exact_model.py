"""Exact mean returns of policies in environments that carry their own model, without episodes."""

from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from crisptree.envs.evaluate import Baselines
from crisptree.envs.policy import Policy
from crisptree.envs.task import Task
from crisptree.envs.transition_table import TransitionTable, transition_table

Vector = Float[np.ndarray, " states"]
Actions = Int[np.ndarray, " states"]
OVERHEAD, PER_ENTRY, PER_FLOP = 8e-6, 1.2e-9, 2e-10
"""Seconds of a sparse product, of each entry in it, and of one multiplication in a dense one."""
NEGLIGIBLE = 1e-13
NO_LIMIT = 1_000
"""Steps of an episode where the environment sets no limit."""


class ExactModel:
    """A transition table, with the chances of start states and a limit of `horizon` steps. With a
    `discount`, each step ends the episode with probability 1 - discount."""

    def __init__(
        self, table: TransitionTable, start: Vector, horizon: int, discount: float = 1.0
    ) -> None:
        self.observations = table.observations
        self.n_states, self.n_actions, _ = table.probability.shape
        self.start, self.horizon = start, horizon
        self.paid = mean_rewards(table)
        self._going_on = discount * going_on(table)
        self._known: dict[bytes, float] = {}

    @property
    def most_going_on(self) -> float:
        """The greatest chance with which an episode goes on after a step."""
        return float(self._going_on.sum(1).max())

    def chances(self) -> Float[np.ndarray, "states actions states"]:
        """The chances of next states in which the episode goes on, written out in full."""
        return self._going_on.toarray().reshape(self.n_states, self.n_actions, self.n_states)

    def mean_return(self, policy: Policy) -> float:
        """The mean return of an episode."""
        return self.mean_of(policy.act(self.observations))

    def mean_of(self, actions: Actions) -> float:
        """The mean return of a policy that is given by its action in each state."""
        key = np.asarray(actions, np.int32).tobytes()
        if key not in self._known:
            self._known[key] = float(self.start @ self.values(actions))
        return self._known[key]

    def baselines(self) -> Baselines:
        """The mean returns of random play and of the best constant action."""
        n_actions, eye = self.n_actions, sparse.eye_array(self.n_states)
        average = sparse.kron(eye, np.full((1, n_actions), 1 / n_actions), format="csr")
        step = sparse.csr_matrix(average @ self._going_on)
        by_chance = _accumulated(step, self.paid.mean(1), self.horizon)
        constants = [self.mean_of(np.full(self.n_states, each)) for each in range(n_actions)]
        best = int(np.argmax(constants))
        return Baselines(float(self.start @ by_chance), constants[best], best, 0)

    def values(self, actions: Actions) -> Vector:
        """The mean return from each state."""
        paid = self.paid[np.arange(self.n_states), actions]
        return _accumulated(self._steps(actions), paid, self.horizon)

    def visits(self, actions: Actions) -> Vector:
        """How often each state is met in an episode, on average."""
        return _accumulated(self._steps(actions).T.tocsr(), self.start, self.horizon)

    def q_values(self, values: Vector) -> Float[np.ndarray, "states actions"]:
        """What each action is worth, if states are worth `values`."""
        return self.paid + (self._going_on @ values).reshape(self.paid.shape)

    def _steps(self, actions: Actions) -> sparse.csr_matrix:
        """The chances of going from state to state."""
        return self._going_on[np.arange(self.n_states) * self.n_actions + actions]


def mean_rewards(table: TransitionTable) -> Float[np.ndarray, "states actions"]:
    """The mean reward of each action in each state."""
    return (table.probability * table.reward).sum(-1)


def going_on(table: TransitionTable) -> sparse.csr_matrix:
    """The chances of next states in which the episode goes on; a row for each state and action."""
    chances = (table.probability * ~table.terminated).ravel()
    n_states, n_actions, most = table.probability.shape
    rows = np.repeat(np.arange(n_states * n_actions), most)
    shape = n_states * n_actions, n_states
    matrix = sparse.csr_matrix((chances, (rows, table.next_state.ravel())), shape=shape)
    matrix.eliminate_zeros()
    return matrix


def start_distribution(task: Task, table: TransitionTable) -> Vector:
    """The chances of start states that the environment gives; all alike if it gives none."""
    env = task.make()
    try:
        given = getattr(env.unwrapped, "initial_state_distrib", None)
    finally:
        env.close()
    n_states = len(table.observations)
    if given is not None and np.shape(given) == (n_states,) and np.sum(given) > 0:
        return np.asarray(given, np.float64) / np.sum(given)
    return np.full(n_states, 1 / n_states)


def _accumulated(step: sparse.csr_matrix, first: Vector, horizon: int) -> Vector:
    """first + step @ first + step @ step @ first + …, `horizon` terms, in the quicker way."""
    one_by_one = horizon * (OVERHEAD + step.nnz * PER_ENTRY)
    by_doubling = np.log2(horizon) * len(first) ** 3 * PER_FLOP
    if one_by_one <= by_doubling:
        return _one_by_one(step, first, horizon)
    return _by_doubling(step.toarray(), first, horizon)


def _one_by_one(step: sparse.csr_matrix, first: Vector, horizon: int) -> Vector:
    total, term = np.zeros_like(first), first
    for _ in range(horizon):
        total = total + term
        term = step @ term
        if np.abs(term).max() <= NEGLIGIBLE * np.abs(total).max():
            break
    return total


def _by_doubling(power: np.ndarray, sums: Vector, horizon: int) -> Vector:
    """With the sum of n terms, that of 2n is `sums + power @ sums`, where `power` is step^n."""
    total: Vector | None = None
    while horizon:
        if horizon & 1:
            total = sums if total is None else sums + power @ total
        horizon >>= 1
        if horizon:
            sums, power = sums + power @ sums, power @ power
    assert total is not None
    return total


@lru_cache(maxsize=4)
def exact_model(task: Task) -> ExactModel | None:
    """The model that an environment carries, or None; made once."""
    table = transition_table(task)
    if table is None:
        return None
    return ExactModel(table, start_distribution(task, table), task.max_steps or NO_LIMIT)
