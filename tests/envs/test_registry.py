import gymnasium
import pytest
from helpers import Countdown

from crisptree.base.errors import CrisptreeError
from crisptree.envs import registry
from crisptree.envs.cartpole import CartPole
from crisptree.envs.registry import is_in_jax, register_twin, twin_of
from crisptree.envs.task import task_of
from crisptree.envs.wildfire.env import Wildfire


def test_a_twin_takes_the_environment_s_arguments():
    assert twin_of(task_of("CartPole-v1")) == CartPole()
    assert twin_of(task_of("crisptree/Wildfire-v0", {"horizon": 7})) == Wildfire(horizon=7)
    assert twin_of(task_of("CartPole-v1", {"sutton_barto_reward": True})) is None


def test_no_twin_for_other_observations_or_makers():
    assert twin_of(task_of("CartPole-v1", features=lambda at: at)) is None
    assert twin_of(task_of(lambda: gymnasium.make("CartPole-v1"))) is None
    assert twin_of(task_of(gymnasium.make("CartPole-v1"))) is None
    assert twin_of(task_of("MountainCar-v0")) is None


def test_whose_episodes_are_the_same_in_jax():
    assert is_in_jax(task_of("crisptree/Wildfire-v0"))
    assert not is_in_jax(task_of("CartPole-v1"))
    assert not is_in_jax(task_of(Countdown))


def test_users_add_their_own(monkeypatch):
    monkeypatch.setattr(registry, "_TWINS", dict(registry._TWINS))
    register_twin("CartPole-v0", "crisptree.envs.cartpole:CartPole")
    assert twin_of(task_of("CartPole-v0", {})) == CartPole()
    register_twin("MountainCar-v0", "crisptree.envs.cartpole:CartPole")
    assert twin_of(task_of("MountainCar-v0")) is None  # it has other features
    with pytest.raises(CrisptreeError, match="named module:Class"):
        register_twin("CartPole-v0", "crisptree.envs.cartpole")
