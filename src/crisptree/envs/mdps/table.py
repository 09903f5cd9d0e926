"""An environment that is a table: states with named features, and all outcomes of all actions."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

DISCOUNT = 0.99
"""The chance that an episode goes on after a step."""

State = tuple[int, ...]


class Outcome(NamedTuple):
    """One of the things that may happen after an action."""

    probability: float
    state: State
    reward: float
    is_over: bool = False


Outcomes = Callable[[State, int], Iterable[Outcome]]
Table = dict[int, dict[int, list[tuple[float, int, float, bool]]]]


@dataclass(frozen=True)
class Model:
    """All states that can be reached, and what each action does in them."""

    feature_names: tuple[str, ...]
    action_names: tuple[str, ...]
    start: Mapping[State, float]
    """Where episodes start, and how often."""
    outcomes: Outcomes
    flags: tuple[str, ...] = ()
    """Features that are 0 or 1."""

    @cached_property
    def reached(self) -> dict[State, list[list[Outcome]]]:
        """The states in the order in which they are met, and the outcomes of each action there."""
        found: dict[State, list[list[Outcome]]] = {state: [] for state in self.start}
        waiting = list(found)
        while waiting:
            state = waiting.pop()
            found[state] = [
                list(self.outcomes(state, action)) for action in range(len(self.action_names))
            ]
            for to in {outcome.state for outcomes in found[state] for outcome in outcomes}:
                if to not in found:
                    found[to] = []
                    waiting.append(to)
        return found

    @cached_property
    def states(self) -> tuple[State, ...]:
        return tuple(self.reached)

    @cached_property
    def number_of(self) -> dict[State, int]:
        return {state: number for number, state in enumerate(self.states)}

    @cached_property
    def start_distribution(self) -> np.ndarray:
        chances = np.array([self.start.get(state, 0.0) for state in self.states])
        return chances / chances.sum()

    @cached_property
    def transitions(self) -> list[list[list[tuple[float, int, float, bool]]]]:
        """`(probability, next state, reward, is over)` by state and action, no chance of ending
        included; the probabilities of a state and an action sum to 1."""
        return [[self._merged(outcomes) for outcomes in each] for each in self.reached.values()]

    def _merged(self, outcomes: list[Outcome]) -> list[tuple[float, int, float, bool]]:
        """Outcomes that are alike become one."""
        merged: dict[tuple[int, float, bool], float] = {}
        for chance, to, reward, is_over in outcomes:
            key = self.number_of[to], reward, is_over
            merged[key] = merged.get(key, 0.0) + chance
        total = sum(merged.values())
        return [(chance / total, *key) for key, chance in merged.items()]

    @cached_property
    def table(self) -> Table:
        """Gymnasium's `P`, with the chance that the episode ends where it is."""
        return {
            state: {action: _with_endings(state, each) for action, each in enumerate(actions)}
            for state, actions in enumerate(self.transitions)
        }

    @cached_property
    def cumulative(self) -> list[list[np.ndarray]]:
        """The running sums of the probabilities, to draw outcomes by."""
        return [
            [np.cumsum([outcome[0] for outcome in outcomes]) for outcomes in actions]
            for actions in self.transitions
        ]


def _with_endings(
    state: int, outcomes: list[tuple[float, int, float, bool]]
) -> list[tuple[float, int, float, bool]]:
    going_on = [
        (chance if is_over else DISCOUNT * chance, to, reward, is_over)
        for chance, to, reward, is_over in outcomes
    ]
    ending: dict[float, float] = {}
    for chance, _, reward, is_over in outcomes:
        if not is_over:
            ending[reward] = ending.get(reward, 0.0) + (1 - DISCOUNT) * chance
    return going_on + [(chance, state, reward, True) for reward, chance in ending.items()]


def as_env(build: Callable[[], Model]) -> "Callable[[], TableEnv]":
    """A function that makes the environment of a model, which is built once."""
    model = cache(build)
    return lambda: TableEnv(model())


class TableEnv(gym.Env):
    """A Gymnasium environment that plays a model.

    How long an episode may last is drawn when it starts: policies that are compared on the same
    seeds play equally long.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        observations = np.array(model.states, np.float32)
        self.observation_space = gym.spaces.Box(observations.min(0), observations.max(0))
        self.action_space = gym.spaces.Discrete(len(model.action_names))
        self.metadata = {
            "render_modes": [],
            "feature_names": list(model.feature_names),
            "action_names": list(model.action_names),
            "flags": list(model.flags),
        }
        self.initial_state_distrib = model.start_distribution
        self._observations = observations
        self._starts = np.cumsum(model.start_distribution)
        self._state, self._steps_left = 0, 0

    @property
    def P(self) -> Table:  # noqa: N802, gymnasium's name
        """All outcomes of all actions: `P[state][action]` as in Gymnasium's toy text."""
        return self.model.table

    def observation_of(self, state: int) -> np.ndarray:
        """What is observed in a state of the table."""
        return self._observations[state]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self._state = _drawn(self._starts, self.np_random.random())
        self._steps_left = int(self.np_random.geometric(1 - DISCOUNT))
        return self._observations[self._state], {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        sums = self.model.cumulative[self._state][action]
        outcomes = self.model.transitions[self._state][action]
        _, to, reward, is_over = outcomes[_drawn(sums, self.np_random.random())]
        self._steps_left -= 1
        if is_over or self._steps_left > 0:
            self._state = to
        ends = is_over or self._steps_left == 0
        return self._observations[self._state], float(reward), ends, False, {}


def _drawn(sums: np.ndarray, chance: float) -> int:
    """The number whose share of 0 … 1 holds `chance`."""
    return min(int(np.searchsorted(sums, chance, side="right")), len(sums) - 1)
