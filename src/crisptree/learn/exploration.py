"""Learns a model of an environment whose observations repeat, by trying every action in every
state.

A state is a distinct observation. Half of the environments go to the actions that were tried least,
on the shortest way by the model so far; the other half take the best actions by that model, and
sometimes a random one. The number of tries that counts as enough grows step by step, so that all
actions are tried about equally often; a deterministic environment is known after a few tries.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.envs.task import Task
from crisptree.envs.transition_table import MOST_STATES, TransitionTable
from crisptree.envs.vector_env import vector_env
from crisptree.learn.value_iteration import NO_LIMIT, greedy, value_iteration

GAMMA, TOLERANCE = 0.99, 1e-4
"""Discount and tolerance of the plans that lead the exploration."""
PLANS = 60
"""Plans in a whole exploration."""
EPSILON = 0.1
"""Chance of a random action in environments that take the best actions."""
MOST_OUTCOMES = 2_000_000
"""Most outcomes of a table, which has as much room for each action as the one with most needs."""
CERTAIN, OFTEN = 8, 512
"""Tries of every action that are enough: in a deterministic environment, and in any."""
PRACTICE_EPSILON = 0.15
"""Chance of a random action while a policy practises."""
PRIOR_TRIES = 4.0
"""Tries of each action that the model before the practice counts for."""
PRIOR_STARTS = 1_000
"""Episodes that its start states count for."""


class Explored(NamedTuple):
    table: TransitionTable
    start: NDArray[np.float64]
    """Chances of the states that episodes start in."""
    horizon: int
    """Steps after which episodes were cut short, or may be."""
    steps: int


def explore(
    task: Task,
    n_envs: int,
    n_steps: int,
    seed: int,
    is_late: Callable[[], bool] = lambda: False,
    report: Callable[[float, str], object] = lambda done, text: None,
    most_outcomes: int = MOST_OUTCOMES,
    tries: int = 0,
) -> Explored | None:
    """The model of the task after at most `n_steps` steps; None if it is too large for a table.

    It goes on after them, unless `is_late`, until every action was tried `tries` times.
    """
    rng, known = np.random.default_rng(seed), _Experience(task)
    envs, steps = vector_env(task, n_envs), 0
    goes_far = np.arange(n_envs) < n_envs / 2
    try:
        at = known.numbers(envs.reset(seed))
        begins, lengths, longest = np.ones(n_envs, bool), np.zeros(n_envs, int), 0
        plans = _Plans.none(task.n_actions)
        planned = 0
        while (steps < n_steps or plans.enough <= tries) and not is_late():
            if known.n_outcomes > most_outcomes:
                return None
            if steps >= planned and steps:
                plans = known.planned(plans)
                planned = steps + max(1, min(n_steps // PLANS, steps))
                report(min(1.0, steps / n_steps), f"{known.n_states} states")
                if plans.is_done:
                    break
            action = known.actions(at, goes_far, plans, rng)
            step = envs.step(action)
            led_to = known.numbers(step.next_observation)
            known.note(at, action, led_to, step.reward, step.terminated, step.valid)
            known.starts(at[begins & step.valid])
            # After an end some environments take a step that only resets.
            begins = step.terminated | step.truncated | ~step.valid
            at = known.numbers(step.observation)
            lengths = lengths + step.valid
            longest = max(longest, int(lengths[step.truncated].max(initial=0)))
            lengths[begins] = 0
            steps += int(step.valid.sum())
    finally:
        envs.close()
    return Explored(known.table(), known.start(), longest or task.max_steps or NO_LIMIT, steps)


def practised(
    explored: Explored,
    act: Callable[[NDArray], NDArray],
    task: Task,
    n_envs: int,
    n_steps: int,
    seed: int,
    is_late: Callable[[], bool] = lambda: False,
) -> Explored:
    """The model after at most `n_steps` steps of a policy, with some random actions.

    In a partially observed environment the outcome of an action depends on the way to the state.
    So the steps of the policy itself count for more than those of the exploration.
    """
    rng, known = np.random.default_rng(seed), _Experience(task)
    known.remember(explored.table, explored.start)
    envs, steps = vector_env(task, n_envs), 0
    try:
        rows = envs.reset(seed)
        at, begins = known.numbers(rows), np.ones(n_envs, bool)
        while steps < n_steps and not is_late():
            is_random = rng.random(n_envs) < PRACTICE_EPSILON
            action = np.where(is_random, rng.integers(task.n_actions, size=n_envs), act(rows))
            step = envs.step(action)
            led_to = known.numbers(step.next_observation)
            known.note(at, action, led_to, step.reward, step.terminated, step.valid)
            known.starts(at[begins & step.valid])
            begins = step.terminated | step.truncated | ~step.valid
            rows = step.observation
            at = known.numbers(rows)
            steps += int(step.valid.sum())
    finally:
        envs.close()
    return Explored(known.table(), known.start(), explored.horizon, explored.steps + steps)


def takes_a_table(task: Task) -> bool:
    """Whether the task has one agent with Discrete actions, so that a table can hold its model."""
    return task.actions.kind == "discrete" and task.n_agents is None


class _Plans(NamedTuple):
    """What to do in each state that was known when the plan was made."""

    enough: int
    """Tries of an action that are enough for now."""
    q: NDArray[np.float64]
    to_unknown: NDArray[np.int64]
    to_reward: NDArray[np.int64]
    is_done: bool = False

    @staticmethod
    def none(n_actions: int) -> "_Plans":
        nothing = np.zeros(0, np.int64)
        return _Plans(1, np.zeros((0, n_actions)), nothing, nothing)


class _Experience:
    """What was seen, tried and earned."""

    def __init__(self, task: Task) -> None:
        self._n_actions = task.n_actions
        self._number: dict[bytes, int] = {}
        self._rows: list[NDArray] = []
        self._tries = np.zeros((64, task.n_actions), np.int64)
        self._first = np.zeros(64, np.int64)
        self._log: list[tuple[NDArray, NDArray]] = []
        self._codes = np.zeros(0, np.int64)
        """What happened, as numbers made of state, action, next state and whether it ended."""
        self._counts, self._paid = np.zeros(0), np.zeros(0)
        self._most_outcomes = 1

    @property
    def n_states(self) -> int:
        return len(self._rows)

    @property
    def n_outcomes(self) -> int:
        """Outcomes that a table of all that was seen has room for."""
        return self.n_states * self._n_actions * self._most_outcomes

    def numbers(self, observations: NDArray) -> NDArray[np.int64]:
        """The state of each row; one that is new gets the next number."""
        rows = np.ascontiguousarray(observations, np.float32)
        found = np.empty(len(rows), np.int64)
        for i, row in enumerate(rows):
            key = row.tobytes()
            number = self._number.get(key)
            if number is None:
                number = self._number[key] = len(self._rows)
                self._rows.append(row.copy())
            found[i] = number
        if len(self._rows) > len(self._tries):
            room = ((0, 2 * len(self._rows) - len(self._tries)), (0, 0))
            self._tries = np.pad(self._tries, room)
            self._first = np.pad(self._first, room[0])
        return found

    def remember(self, table: TransitionTable, start: NDArray[np.float64]) -> None:
        """Start from a model: each of its actions counts as `PRIOR_TRIES` tries."""
        self.numbers(table.observations)
        state, action, outcome = np.nonzero(table.probability)
        place = state, action, outcome
        tried = state * self._n_actions + action
        codes = (tried * (2 * MOST_STATES) + table.next_state[place]) * 2 + table.terminated[place]
        counts = PRIOR_TRIES * table.probability[place]
        self._codes, at = np.unique(codes, return_inverse=True)
        self._counts = np.bincount(at, counts)
        self._paid = np.bincount(at, counts * table.reward[place])
        self._first[: len(start)] = np.round(PRIOR_STARTS * start)

    def starts(self, states: NDArray) -> None:
        np.add.at(self._first, states, 1)

    def note(
        self,
        at: NDArray,
        action: NDArray,
        led_to: NDArray,
        reward: NDArray,
        terminated: NDArray,
        valid: NDArray,
    ) -> None:
        """One step of each environment."""
        np.add.at(self._tries, (at[valid], action[valid]), 1)
        tried = at * self._n_actions + action
        codes = (tried * (2 * MOST_STATES) + led_to) * 2 + terminated
        self._log.append((codes[valid], reward[valid]))

    def actions(
        self, at: NDArray, goes_far: NDArray, plans: _Plans, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The least tried action where some were not tried often enough, else the planned one."""
        tries = self._tries[at]
        chosen = np.argmin(tries + rng.random(tries.shape), 1)
        planned = (at < len(plans.to_reward)) & (tries.min(1) >= plans.enough)
        is_random = rng.random(len(at)) < EPSILON
        far, near = planned & goes_far, planned & ~goes_far & ~is_random
        chosen[far], chosen[near] = plans.to_unknown[at[far]], plans.to_reward[at[near]]
        return chosen

    def planned(self, before: _Plans) -> _Plans:
        """New plans from all that is known."""
        table = self.table()
        tries = self._tries[: self.n_states]
        known = np.zeros_like(table.reward[..., 0])
        known[: len(before.q)] = before.q
        q = value_iteration(table, GAMMA, known, TOLERANCE)
        enough = before.enough
        while True:
            is_new = tries < enough
            novel = table._replace(
                reward=np.broadcast_to(is_new[..., None].astype(float), table.reward.shape),
                terminated=table.terminated | is_new[..., None],
            )
            far = value_iteration(novel, GAMMA, None, TOLERANCE)
            reachable = float(far.max(1)[self._first[: self.n_states] > 0].max(initial=0.0))
            if reachable > 0:
                break
            if enough >= OFTEN or (enough >= CERTAIN and self._is_certain()):
                return _Plans(enough, q, greedy(far), greedy(q), is_done=True)
            enough *= 2
        return _Plans(enough, q, greedy(far), greedy(q))

    def _is_certain(self) -> bool:
        """Whether the environment is deterministic: every action always had the same outcome."""
        tried = self._codes // (4 * MOST_STATES)
        return len(np.unique(tried)) == len(tried)

    def _add_up(self) -> None:
        """Add the steps since the last call to the counts."""
        if not self._log:
            return
        codes, rewards = (np.concatenate(part) for part in zip(*self._log, strict=True))
        self._log = []
        every = np.concatenate([self._codes, codes])
        counts = np.concatenate([self._counts, np.ones(len(codes))])
        paid = np.concatenate([self._paid, rewards])
        self._codes, at = np.unique(every, return_inverse=True)
        self._most_outcomes = int(np.bincount(self._codes // (4 * MOST_STATES)).max())
        self._counts = np.bincount(at, counts)
        self._paid = np.bincount(at, paid)

    def table(self) -> TransitionTable:
        """The chances and mean rewards of all outcomes that were seen. An action that was never
        tried is taken to stay in its state and to pay the least that was seen."""
        self._add_up()
        tried, rest = np.divmod(self._codes, 4 * MOST_STATES)
        led_to, ended = np.divmod(rest, 2)
        n_tried = self.n_states * self._n_actions
        outcomes = np.bincount(tried, minlength=n_tried)
        most = max(1, int(outcomes.max(initial=1)))
        shape = (n_tried, most)
        probability, reward = np.zeros(shape), np.zeros(shape)
        following, terminated = np.zeros(shape, np.int64), np.zeros(shape, bool)
        first = np.concatenate([[0], np.cumsum(outcomes)[:-1]])
        place = tried, np.arange(len(tried)) - first[tried]
        total = np.bincount(tried, self._counts, minlength=n_tried)
        probability[place] = self._counts / total[tried]
        reward[place] = self._paid / self._counts
        following[place], terminated[place] = led_to, ended.astype(bool)
        untried = outcomes == 0
        probability[untried, 0] = 1.0
        reward[untried, 0] = min(
            0.0, float((self._paid / np.maximum(self._counts, 1)).min(initial=0))
        )
        following[untried, 0] = np.flatnonzero(untried) // self._n_actions
        whole = (self.n_states, self._n_actions, most)
        return TransitionTable(
            probability.reshape(whole),
            following.reshape(whole),
            reward.reshape(whole),
            terminated.reshape(whole),
            np.stack(self._rows),
        )

    def start(self) -> NDArray[np.float64]:
        """The share of episodes that started in each state."""
        first = self._first[: self.n_states].astype(np.float64)
        return first / first.sum()
