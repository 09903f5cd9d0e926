"""Named features for environments whose observations are codes: functions a user would write."""

from typing import Any

import numpy as np

SIGHT = 7
OWN_COLUMN, OWN_ROW = SIGHT // 2, SIGHT - 1
"""Where the agent stands in MiniGrid's picture of what is before it."""
DOOR, OPEN = 4, 0
OBJECTS = {"door": DOOR, "key": 5, "ball": 6, "box": 7, "goal": 8, "lava": 9}
NOTHING, EMPTY, WALL, FLOOR, GOAL = 0, 1, 2, 3, 8
HEADINGS = ("right", "down", "left", "up")
TAXI_STOPS = ("red", "green", "yellow", "blue")


def minigrid_view(observation: dict[str, Any]) -> dict[str, Any]:
    """What MiniGrid's agent sees: how far it can go, and where the nearest things are."""
    picture = np.asarray(observation["image"])
    kinds, states = picture[:, :, 0], picture[:, :, 2]
    is_free = np.isin(kinds, (EMPTY, FLOOR, GOAL)) | ((kinds == DOOR) & (states == OPEN))
    found: dict[str, Any] = {
        f"faces {heading}": int(observation["direction"]) == number
        for number, heading in enumerate(HEADINGS)
    }
    ways = {
        "ahead": (OWN_COLUMN, slice(OWN_ROW - 1, None, -1)),
        "on the left": (slice(OWN_COLUMN - 1, None, -1), OWN_ROW),
        "on the right": (slice(OWN_COLUMN + 1, None), OWN_ROW),
    }
    for side, cells in ways.items():
        found[f"free cells {side}"] = _run(is_free[cells])
        found[f"cells to the wall {side}"] = _run(kinds[cells] != WALL)
    found["carries something"] = bool(kinds[OWN_COLUMN, OWN_ROW] > FLOOR)
    for name, kind in OBJECTS.items():
        found |= _nearest(name, kinds == kind)
    door = (kinds == DOOR) & (states == OPEN)
    found["an open door is in view"] = bool(door.any())
    return found


def _run(free: np.ndarray) -> int:
    """How many of the first cells are free."""
    blocked = np.flatnonzero(~free)
    return int(blocked[0]) if len(blocked) else len(free)


def _nearest(name: str, cells: np.ndarray) -> dict[str, Any]:
    """Where the nearest of some cells is; 0 steps away where none is in view."""
    cells = cells.copy()
    cells[OWN_COLUMN, OWN_ROW] = False  # what is carried
    columns, rows = np.nonzero(cells)
    right, ahead = columns - OWN_COLUMN, OWN_ROW - rows
    at = int(np.argmin(np.abs(right) + ahead)) if len(rows) else None
    return {
        f"{name} in view": at is not None,
        f"{name} steps ahead": 0 if at is None else int(ahead[at]),
        f"{name} steps to the right": 0 if at is None else int(right[at]),
    }


def highway_cars(observation: np.ndarray) -> dict[str, Any]:
    """highway-env's kinematics: the own car, and the four nearest relative to it."""
    own, *others = np.asarray(observation, np.float64)
    found: dict[str, Any] = {"lane position": own[2], "own speed": own[3]}
    for number, (present, ahead, right, speed, _) in enumerate(others, 1):
        found[f"car {number} in view"] = bool(present > 0.5)
        found[f"car {number} ahead"] = ahead
        found[f"car {number} to the right"] = right
        found[f"car {number} relative speed"] = speed
    return found


def taxi(state: int) -> dict[str, Any]:
    """What Taxi's number says: where the taxi and the passenger are, and where to go."""
    rest, destination = divmod(int(state), 4)
    rest, passenger = divmod(rest, 5)
    row, column = divmod(rest, 5)
    found: dict[str, Any] = {"row": row, "column": column, "passenger in taxi": passenger == 4}
    for number, stop in enumerate(TAXI_STOPS):
        found[f"passenger at {stop}"] = passenger == number
    for number, stop in enumerate(TAXI_STOPS):
        found[f"destination is {stop}"] = destination == number
    return found
