"""Ways through grids: three slippery lakes, a cube with dangers, and a tiger after an antelope."""

from collections.abc import Iterator, Sequence

import numpy as np
from gymnasium.envs.toy_text.frozen_lake import MAPS

from crisptree.envs.mdps.table import Model, Outcome, State, as_env

LAKE_12 = (
    "SFFFFFFFFFFF",
    "FFFFFFFFFFFF",
    "FFFHFFFFFFFH",
    "FFFFFHFFFFFF",
    "FFFHFFFFFFFF",
    "FHHFFFHFFHFF",
    "FHFFHFHFFFFF",
    "FFFHFFFFFFFF",
    "FFFFFFFFHFFF",
    "HFFFFHFFFFHH",
    "FFFFFFGFFFFF",
    "FFFFFFFFFFFF",
)
COMPASS = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""Steps in (row, column): left, down, right, up."""
SIDE = 5
"""Of the cube, and of the field of tiger and antelope."""


def _lake(rows: Sequence[str]) -> Model:
    """Gymnasium's FrozenLake with row and column for features. A step goes where it should, or to
    either side of that, with equal chances."""
    size = len(rows)

    def outcomes(state: State, action: int) -> Iterator[Outcome]:
        if rows[state[0]][state[1]] in "GH":
            yield Outcome(1.0, state, 0.0, True)
            return
        for turn in (-1, 0, 1):
            to = _moved(state, COMPASS[(action + turn) % 4], size)
            ground = rows[to[0]][to[1]]
            yield Outcome(1 / 3, to, float(ground == "G"), ground in "GH")

    return Model(("row", "column"), ("left", "down", "right", "up"), {(0, 0): 1.0}, outcomes)


frozen_lake_4x4 = as_env(lambda: _lake(MAPS["4x4"]))
frozen_lake_8x8 = as_env(lambda: _lake(MAPS["8x8"]))
frozen_lake_12x12 = as_env(lambda: _lake(LAKE_12))


def _moved(at: State, by: State, size: int) -> State:
    """One step within the grid; a step into a wall leads nowhere."""
    return tuple(min(max(x + d, 0), size - 1) for x, d in zip(at, by, strict=True))


@as_env
def navigation_3d() -> Model:
    """From one corner of a cube to the opposite one. Every cell but the first and the last has its
    own chance of sending one back to the start; the way goes on from the goal, which pays 1 when it
    is reached."""
    last = SIDE**3 - 1
    dangers = np.random.RandomState(0).random_sample(last - 1)
    danger = np.concatenate([[0.0], dangers, [1.0]]).reshape(SIDE, SIDE, SIDE)
    goal, start = (SIDE - 1,) * 3, (0, 0, 0)
    steps = [tuple(s * (axis == a) for a in range(3)) for axis in range(3) for s in (1, -1)]

    def outcomes(state: State, action: int) -> Iterator[Outcome]:
        lost = float(danger[state])
        to = _moved(state, steps[action], SIDE)
        yield Outcome(lost, start, 0.0)
        if lost < 1:
            yield Outcome(1 - lost, to, float(to == goal))

    names = ("right", "left", "up", "down", "forward", "backward")
    return Model(("x", "y", "z"), names, {start: 1.0}, outcomes)


@as_env
def tiger_antelope() -> Model:
    """A tiger hunts an antelope that runs about at random. Both move at once. The antelope goes to
    a neighbouring cell, never out of the field nor where the tiger is. Where they meet, the tiger's
    next action ends the hunt and pays 1."""
    moves = ((0, 1), (1, 0), (0, -1), (-1, 0), (0, 0))
    cells = [(x, y) for x in range(SIDE) for y in range(SIDE)]

    def outcomes(state: State, action: int) -> Iterator[Outcome]:
        antelope, tiger = state[:2], state[2:]
        if antelope == tiger:
            yield Outcome(1.0, state, 1.0, True)
            return
        flights = {_moved(antelope, move, SIDE) for move in moves[:4]} - {antelope, tiger}
        for flight in sorted(flights):
            there = flight + _moved(tiger, moves[action], SIDE)
            yield Outcome(1 / len(flights), there, 0.0)

    start = {antelope + tiger: 1.0 for antelope in cells for tiger in cells}
    features = ("antelope x", "antelope y", "tiger x", "tiger y")
    return Model(features, ("up", "right", "down", "left", "wait"), start, outcomes)
