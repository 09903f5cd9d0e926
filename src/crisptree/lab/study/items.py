"""Questions about a policy: states from its own episodes, rounded as a person will see them."""

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.aid import Aid, States

MOST_DECIMALS = 4
MOST_CANDIDATES = 2000
DIGITS_OF_A_SMALL_FEATURE = 2


@dataclass(frozen=True)
class Item:
    """One state and the action the policy takes in it."""

    state: tuple[str, ...]
    """The features as the person reads them."""
    answer: int
    place: int
    """Where in the aid the state ends: the leaf of a tree."""


class Recorder:
    """A policy that remembers the states it was asked about."""

    def __init__(self, policy) -> None:
        self._policy = policy
        self._seen: list[np.ndarray] = []

    def predict(self, observation, state=None, episode_start=None, deterministic=True):
        self._seen.append(np.array(observation, dtype=np.float64))
        return self._policy.predict(observation, state, episode_start, deterministic)

    def visited(self) -> States:
        return np.concatenate(self._seen)


def decimals_for(visited: States) -> tuple[int, ...]:
    """Digits after the point, feature by feature.

    None for whole numbers; for all others so many that the feature with the smallest values
    (by their 90th percentile) still shows two digits. All alike, since people will add them up.
    """
    whole = (visited == np.round(visited)).all(axis=0)
    sizes = np.quantile(np.abs(visited[:, ~whole]), 0.9, axis=0)
    sizes = sizes[sizes > 0]
    if not len(sizes):
        return tuple(0 for _ in whole)
    needed = DIGITS_OF_A_SMALL_FEATURE - 1 - math.floor(math.log10(sizes.min()))
    decimals = min(max(needed, 0), MOST_DECIMALS)
    return tuple(0 if is_whole else decimals for is_whole in whole.tolist())


def choose_items(
    aid: Aid, visited: States, decimals: tuple[int, ...], count: int, rng: np.random.Generator
) -> tuple[Item, ...]:
    """`count` questions and one more for practice, which comes first.

    Actions come in turn, so each is the answer about equally often; within an action the places
    come in turn, so that as many leaves as possible are asked about.
    """
    states, exact = _candidates(visited, decimals, rng)
    clear = _agrees(aid, states, exact, decimals)
    states = states[clear]
    actions, places = aid.actions(states), aid.places(states)
    taken = np.unique(actions)
    if len(taken) < 2:
        raise CrisptreeError(
            f"in the {len(visited):,} states it visited, this policy always takes one action; "
            "questions with only one answer ask nothing"
        )
    chosen = _in_turn(actions, places, count + 1, rng)
    if len(chosen) < count + 1:
        raise CrisptreeError(
            f"this policy visited only {len(chosen)} states that can be told apart; "
            f"{count} questions and one for practice need {count + 1}"
        )
    return tuple(
        Item(
            state=tuple(
                _text(value, digits)
                for value, digits in zip(states[at].tolist(), decimals, strict=True)
            ),
            answer=int(actions[at]),
            place=int(places[at]),
        )
        for at in chosen
    )


def _candidates(
    visited: States, decimals: tuple[int, ...], rng: np.random.Generator
) -> tuple[Float[np.ndarray, "shown features"], Float[np.ndarray, "shown features"]]:
    """States as shown, each once, and one that was visited for each."""
    few = rng.permutation(len(visited))[:MOST_CANDIDATES]
    exact = visited[few]
    shown = np.stack(
        [np.round(column, digits) for column, digits in zip(exact.T, decimals, strict=True)], axis=1
    )
    shown += 0.0  # no minus zero
    _, first = np.unique(shown, axis=0, return_index=True)
    return shown[first], exact[first]


def _agrees(
    aid: Aid, shown: States, exact: States, decimals: tuple[int, ...]
) -> Bool[np.ndarray, " states"]:
    """Where rounding changes nothing and leaves no doubt."""
    units = np.array([10.0**-digits for digits in decimals])
    same = aid.actions(shown) == aid.policy.predict(exact)[0]
    return same & (aid.places(shown) == aid.places(exact)) & aid.is_clear(shown, units)


def _in_turn(
    actions: Int[np.ndarray, " states"],
    places: Int[np.ndarray, " states"],
    count: int,
    rng: np.random.Generator,
) -> list[int]:
    """Indices, one action after the other, and within each one place after the other."""
    waiting: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for at in rng.permutation(len(actions)).tolist():
        waiting[int(actions[at])][int(places[at])].append(at)
    turns = {action: list(_alternating(list(by.values()))) for action, by in waiting.items()}
    order = rng.permutation(sorted(turns)).tolist()
    return list(_alternating([turns[action] for action in order]))[:count]


def _alternating(queues: list[list[int]]):
    """The first of each queue, then the second of each, …"""
    for round_ in range(max(map(len, queues), default=0)):
        for queue in queues:
            if round_ < len(queue):
                yield queue[round_]


def _text(value: float, decimals: int) -> str:
    return f"{value + 0.0:.{decimals}f}"
