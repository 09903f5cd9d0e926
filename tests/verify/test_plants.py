"""Plants agree with their environments, and so do the boxes around them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from loops import PLANTS, some_actions, some_states

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import Actions
from crisptree.verify.plants import Plant, plant_named, plant_of
from crisptree.verify.plants.classic import ACROBOT, CART_POLE, PENDULUM
from crisptree.verify.plants.env import PlantEnv
from crisptree.verify.replay import disagreement

every_plant = pytest.mark.parametrize("plant", PLANTS, ids=[plant.name for plant in PLANTS])
with_environment = pytest.mark.parametrize(
    "plant",
    [plant for plant in PLANTS if plant.env_id],
    ids=[plant.name for plant in PLANTS if plant.env_id],
)


@with_environment
def test_a_step_is_the_environment_s(plant):
    assert disagreement(plant, steps=300) is None


def test_a_model_that_disagrees_is_found_and_said():
    def faster(xp, state, action, disturbance):
        position, *rest = CART_POLE.step(xp, state, action, disturbance)
        return position + 0.001, *rest

    said = disagreement(replace(CART_POLE, step=faster))
    assert said is not None and "after step 1 the environment has cart position" in said
    blind = replace(PENDULUM, features=lambda xp, state: (xp.sin(state[0]),) * 3)
    assert "the environment shows " in str(disagreement(blind))


@every_plant
def test_boxes_hold_every_state_after_a_step(plant):
    from crisptree.verify.checker_numbers import NUMBERS, hull_of, variables
    from crisptree.verify.forms import FORMS, symbols
    from crisptree.verify.intervals import INTERVALS, Interval

    rng = np.random.default_rng(0)
    middle = some_states(plant, 40, rng)
    half = rng.uniform(0, 0.05, middle.shape) * rng.integers(0, 2, middle.shape)
    low, high = middle - half, middle + half
    acting = plant.disturbance_box
    given = [Interval(*pair) for pair in acting]
    for action in some_actions(plant, 3, rng):
        columns = [Interval(*pair) for pair in zip(low.T, high.T, strict=True)]
        plain = plant.step(INTERVALS, columns, action, given)
        forms = [
            each.bounds() if hasattr(each, "bounds") else each
            for each in plant.step(FORMS, symbols(low, high), action, given)
        ]
        numbers = plant.step(NUMBERS, variables(low, high), action, _numbers(acting))
        checked = hull_of(numbers, len(low))
        for _ in range(10):
            inside = np.clip(rng.uniform(low, high), low, high)
            drawn = rng.uniform(acting[:, 0], acting[:, 1], (len(low), len(acting)))
            after = plant.play(inside, np.array([action] * len(low)), drawn)
            for at, value in enumerate(after.T):
                for bounds in (plain[at], forms[at]):
                    assert (bounds.low <= value).all() and (value <= bounds.high).all()
                assert (checked[0][:, at] <= value).all() and (value <= checked[1][:, at]).all()


def _numbers(acting):
    from crisptree.verify.checker_numbers import Number

    return [Number(*pair) for pair in acting]


@every_plant
def test_a_plant_is_an_environment(plant):
    env = PlantEnv(plant)
    seen, _ = env.reset(seed=3)
    assert env.observation_space.contains(seen)
    env.action_space.seed(0)
    for _ in range(20):
        seen, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        assert env.observation_space.contains(seen) and math.isfinite(reward) and not truncated
        if terminated:
            break
    again, _ = env.reset(seed=3)
    assert np.array_equal(again, PlantEnv(plant).reset(seed=3)[0])


def test_an_episode_ends_outside_the_limits_and_in_the_goal():
    env = PlantEnv(CART_POLE)
    env.reset(seed=0)
    env.state = np.array([2.39, 3.0, 0.0, 0.0])
    assert env.step(1)[2]
    env = PlantEnv(ACROBOT)
    env.reset(seed=0)
    env.state = np.array([3.0, 0.0, 0.0, 0.0])
    assert env.step(1)[2]


def test_names():
    assert plant_of("CartPole-v0") is CART_POLE and plant_of("LunarLander-v3") is None
    assert plant_named("Acrobot") is plant_named("Acrobot-v1") is ACROBOT
    with pytest.raises(CrisptreeError, match="there is no plant 'Car'; there are CartPole"):
        plant_named("Car")


def test_a_plant_of_one_s_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ownplant.py").write_text(
        "from crisptree.verify.plants.classic import CART_POLE\nOWN = CART_POLE\nOTHER = 3\n1"
    )
    assert plant_named("ownplant:OWN") is CART_POLE
    with pytest.raises(CrisptreeError, match="ownplant:OTHER is no Plant"):
        plant_named("ownplant:OTHER")
    (tmp_path / "brokenplant.py").write_text("1 / 0")
    with pytest.raises(CrisptreeError, match=r"cannot import the plant .*: ZeroDivisionError"):
        plant_named("brokenplant:OWN")


def made(**changes):
    given = {
        "name": "level",
        "step": lambda xp, state, action, disturbance: state,
        "states": {"level": (0.0, 1.0)},
        "actions": Actions.discrete(("close", "open")),
    }
    return Plant(**(given | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"states": {"level": (1.0, 0.0)}}, "states of 'level' are 1.0 … 0.0"),
        ({"states": {"level": (0.0, math.inf)}}, "'level' starts in no finite range"),
        ({"states": {"level": (0.0, math.nan)}}, "the lower bound comes first"),
        ({"limits": {"depth": (0.0, 1.0)}}, "has no 'depth'; it has level"),
        ({"goal": {"depth": (0.0, 1.0)}}, "has no 'depth'; it has level"),
    ],
)
def test_plants_that_say_nothing(changes, message):
    with pytest.raises(CrisptreeError, match=message):
        made(**changes)
