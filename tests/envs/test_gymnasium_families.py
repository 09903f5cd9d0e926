"""Every family of gymnasium's own registry: 26 can be learned on, the last one is refused."""

import gymnasium
import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.envs.policy import random_policy
from crisptree.envs.rollout import rollout
from crisptree.envs.task import Task, task_of

FAMILIES = {
    spec.name: env_id
    for env_id, spec in gymnasium.registry.items()
    if spec.namespace is None and str(spec.entry_point).startswith("gymnasium.")
}
PICTURES = "CarRacing"


def described(name: str) -> Task:
    if "mujoco" in str(gymnasium.registry[FAMILIES[name]].entry_point):
        pytest.importorskip("mujoco")
    return task_of(FAMILIES[name])


def test_there_are_27():
    assert len(FAMILIES) == 27


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {PICTURES}))
def test_a_policy_can_play_it(name):
    task = described(name)
    played = rollout([random_policy(task, 0)], task, [1, 2], record=True, max_steps=5)
    assert np.isfinite(played.returns).all()
    assert played.observations is not None
    assert played.observations.shape[1] == task.n_features
    for feature, column in zip(task.features, played.observations.T, strict=True):
        if feature.kind == "flag":
            assert set(column.tolist()) <= {0.0, 1.0}


def test_pictures_are_refused():
    with pytest.raises(CrisptreeError, match="27,648 numbers an observation, as pictures have"):
        task_of(FAMILIES[PICTURES])


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {PICTURES}))
def test_every_number_has_a_name(name):
    task = described(name)
    assert not any(feature.name.startswith("x0") for feature in task.features)
    assert not any(action.startswith("action") for action in task.action_names)


@pytest.mark.parametrize(
    ("name", "kind", "features", "actions"),
    [
        ("Blackjack", "discrete", ("player's sum", "dealer's card", "usable ace"), 2),
        ("Taxi", "discrete", ("state",), 6),
        ("Pendulum", "box", ("cos of angle", "sin of angle", "angular velocity"), 1),
        ("LunarLanderContinuous", "box", None, 2),
    ],
)
def test_what_some_of_them_give(name, kind, features, actions):
    task = described(name)
    assert (task.actions.kind, task.n_actions) == (kind, actions)
    assert features is None or task.feature_names == features


def test_blackjack_is_two_numbers_and_a_flag():
    assert [feature.kind for feature in task_of("Blackjack-v1").features] == [
        "category",
        "category",
        "flag",
    ]


def test_the_lander_s_legs_are_flags():
    assert [feature.kind for feature in task_of("LunarLander-v3").features[6:]] == ["flag", "flag"]
