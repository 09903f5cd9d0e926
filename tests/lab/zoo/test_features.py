"""What the zoo's feature functions say, against the environments' own words."""

import gymnasium as gym
import numpy as np
import pytest

from crisptree.envs.task import task_of
from crisptree.lab.zoo.features import highway_cars, minigrid_view, taxi


def picture() -> np.ndarray:
    """Nothing but floor in sight."""
    image = np.zeros((7, 7, 3), np.uint8)
    image[:, :, 0] = 1
    return image


def test_what_is_before_the_agent():
    image = picture()
    image[3, 3, 0] = 2  # a wall, three steps ahead
    image[5, 4, 0] = 8  # the goal, two ahead and two to the right
    image[3, 6, 0] = 5  # a key in the hand
    found = minigrid_view({"image": image, "direction": 3})
    assert found["free cells ahead"] == 2
    assert (found["free cells on the left"], found["free cells on the right"]) == (3, 3)
    assert (found["goal steps ahead"], found["goal steps to the right"]) == (2, 2)
    assert found["goal in view"] and found["carries something"] and found["faces up"]
    assert not found["key in view"] and not found["lava in view"]


@pytest.mark.parametrize(("state", "is_open"), [(0, True), (1, False), (2, False)])
def test_doors(state, is_open):
    image = picture()
    image[3, 5] = (4, 0, state)
    found = minigrid_view({"image": image, "direction": 0})
    assert found["an open door is in view"] is is_open
    assert (found["free cells ahead"] == 6) is is_open
    assert (found["door steps ahead"], found["door steps to the right"]) == (1, 0)


def test_minigrid_s_own_observations():
    pytest.importorskip("minigrid")
    task = task_of(
        "minigrid:MiniGrid-DoorKey-5x5-v0", features="crisptree.lab.zoo.features:minigrid_view"
    )
    kinds = {feature.name: feature.kind for feature in task.features}
    assert kinds["carries something"] == "flag" and kinds["key steps ahead"] == "number"


def test_highway_cars():
    rows = np.zeros((5, 5))
    rows[0] = 1, 1, 0.33, 0.3, 0
    rows[1] = 1, 0.2, -0.33, -0.1, 0
    found = highway_cars(rows)
    assert found["own speed"] == 0.3
    assert found["car 1 in view"] and found["car 1 ahead"] == 0.2
    assert not found["car 2 in view"]


def test_taxi_decodes_as_the_environment_does():
    env = gym.make("Taxi-v4").unwrapped
    for state in range(0, 500, 7):
        row, column, passenger, destination = env.decode(state)  # pyright: ignore[reportAttributeAccessIssue]
        found = taxi(state)
        assert (found["row"], found["column"]) == (row, column)
        flags = [found[f"passenger at {stop}"] for stop in ("red", "green", "yellow", "blue")]
        assert [*flags, found["passenger in taxi"]].index(True) == passenger
        flags = [found[f"destination is {stop}"] for stop in ("red", "green", "yellow", "blue")]
        assert flags.index(True) == destination
