import gymnasium
import pytest
from gymnasium import spaces
from helpers import LINE, TWO, make_task

from crisptree.base.errors import CrisptreeError
from crisptree.envs.known_names import ACTIONS, FEATURES, FLAGS, ORDERED
from crisptree.envs.names import names_of
from crisptree.envs.task import task_of


@pytest.mark.parametrize(
    "env_id", ["CartPole-v1", "Acrobot-v1", "MountainCar-v0", "LunarLander-v3", "Pendulum-v1"]
)
def test_as_many_names_as_the_environment_has(env_id):
    task = task_of(env_id)
    assert task.feature_names == FEATURES[env_id[:-3]]
    assert task.action_names == ACTIONS[env_id[:-3]]


def test_names_differ():
    for names in [*FEATURES.values(), *ACTIONS.values()]:
        assert len(set(names)) == len(names)
    for table in (FLAGS, ORDERED):
        assert all(set(names) <= set(FEATURES[env]) for env, names in table.items())


@pytest.mark.parametrize("env_id", ["CartPole-v0", "some.module:CartPole-v1", "phys2d/CartPole-v1"])
def test_versions_modules_and_namespaces_change_nothing(env_id):
    names = names_of(gymnasium.Env(), env_id, env_id)
    assert names.of_values(4) == FEATURES["CartPole"]
    assert names.of_values(3) is None
    assert names.of_actions(2, ()) == ("push left", "push right")


def test_numbers_where_no_names_are_known():
    assert make_task().feature_names == ("x0", "x1", "x2")
    assert make_task().action_names == ("action 0", "action 1")


def test_an_environment_names_its_own_numbers():
    task = make_task(
        LINE, TWO, feature_names=["height", "speed", "fuel"], action_names=("wait", "burn")
    )
    assert task.feature_names == ("height", "speed", "fuel")
    assert task.action_names == ("wait", "burn")


@pytest.mark.parametrize("names", [["height", "speed"], ["height", "speed", "speed"]])
def test_too_few_names_or_two_alike_are_refused(names):
    with pytest.raises(CrisptreeError, match="it needs 3, no two alike"):
        make_task(feature_names=names)


def test_parts_of_an_observation_may_give_one_name_twice():
    one = spaces.Box(-1, 1, (1,))
    space = spaces.Dict({"a": spaces.Dict({"b": one}), "a.b": one})
    with pytest.raises(CrisptreeError, match=r"has two features named 'a\.b\[0\]'; feature_names"):
        make_task(space, TWO)
