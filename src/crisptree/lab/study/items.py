"""Questions about a policy: states from its own episodes, rounded as a person will see them."""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.drawing import Drawing
from crisptree.lab.study.linear_mlp import States

MOST_DECIMALS = 4
MOST_CANDIDATES = 2000
DIGITS_OF_A_SMALL_FEATURE = 2


@dataclass(frozen=True)
class Item:
    """One state and the action the policy takes in it."""

    state: tuple[str, ...]
    """The features as the person reads them."""
    answer: tuple[int | float, ...]
    """For each part of the action, the choice counted from 0, or the number."""
    place: int
    """Where in the drawing the state ends: the leaf of a tree."""


def decimals_for(visited: States) -> tuple[int, ...]:
    """Digits after the point, feature by feature.

    Whole numbers have none. All others have as many as the feature with the smallest values (by
    their 90th percentile) needs to show two digits: all alike, since people will add them up.
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
    drawing: Drawing,
    visited: States,
    decimals: tuple[int, ...],
    tolerances: tuple[float, ...],
    count: int,
    rng: np.random.Generator,
) -> tuple[Item, ...]:
    """`count` questions and one more for practice, which comes first.

    Actions alternate, so each is the answer about equally often; within an action the places
    alternate, so that as many leaves as possible are asked about. Numbers alternate by place only.
    """
    states, exact = _candidates(visited, decimals, rng)
    states = states[_agrees(drawing, states, exact, decimals, tolerances)]
    actions, places = _rows(drawing.actions(states)), drawing.places(states)
    if len(np.unique(actions, axis=0)) < 2:
        raise CrisptreeError(
            f"in the {len(visited):,} states it visited, this policy always takes one action; "
            "questions with only one answer ask nothing"
        )
    groups = [0] * len(actions) if tolerances else list(map(tuple, actions.tolist()))
    chosen = _alternate(groups, places.tolist(), rng)[: count + 1]
    if len(chosen) < count + 1:
        raise CrisptreeError(
            f"this policy visited only {len(chosen)} states that can be told apart; "
            f"{count} questions and one for practice need {count + 1}"
        )
    return tuple(
        Item(
            state=tuple(
                f"{value:.{digits}f}"
                for value, digits in zip(states[at].tolist(), decimals, strict=True)
            ),
            answer=tuple(actions[at].tolist()),
            place=int(places[at]),
        )
        for at in chosen
    )


def _candidates(visited: States, decimals: tuple[int, ...], rng: np.random.Generator):
    """The distinct states as shown, and for each a visited state that it came from."""
    exact = visited[rng.permutation(len(visited))[:MOST_CANDIDATES]]
    shown = np.stack(
        [np.round(column, digits) for column, digits in zip(exact.T, decimals, strict=True)], axis=1
    )
    shown += 0.0  # no minus zero
    _, first = np.unique(shown, axis=0, return_index=True)
    return shown[first], exact[first]


def _agrees(
    drawing: Drawing,
    shown: States,
    exact: States,
    decimals: tuple[int, ...],
    tolerances: tuple[float, ...],
) -> Bool[np.ndarray, " states"]:
    """Which states are safe to ask about: rounding changes neither their path nor the answer. A
    number may change by half its tolerance."""
    whole = (exact == np.round(exact)).all(axis=0)  # nothing was rounded
    units = np.where(whole, 0.0, [10.0**-digits for digits in decimals])
    change = np.abs(_rows(drawing.actions(shown)) - _rows(drawing.policy.act(exact)))
    allowed = np.array(tolerances) / 2 if tolerances else 0.0
    same_place = drawing.places(shown) == drawing.places(exact)
    return (change <= allowed).all(axis=1) & same_place & drawing.is_clear(shown, units)


def _rows(actions: np.ndarray) -> np.ndarray:
    """One row for each state, one column for each part of an action."""
    return actions.reshape(len(actions), -1)


def _alternate(groups: list, places: list[int], rng: np.random.Generator) -> list[int]:
    """All indices; groups take turns, and within a group places take turns."""
    waiting: dict = defaultdict(lambda: defaultdict(list))
    for at in rng.permutation(len(groups)).tolist():
        waiting[groups[at]][places[at]].append(at)
    turns = [list(_in_turn(list(waiting[group].values()))) for group in sorted(waiting)]
    return list(_in_turn([turns[at] for at in rng.permutation(len(turns))]))


def _in_turn(queues: list[list[int]]) -> Iterator[int]:
    """The first of each queue, then the second of each, …"""
    for at in range(max(map(len, queues), default=0)):
        yield from (queue[at] for queue in queues if at < len(queue))
