import sys
from typing import Any

import gymnasium
import pytest
from gymnasium.envs import registration
from helpers import Countdown

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crisp.signature import Actions
from crisptree.envs.task import task_of, task_of_policy


def test_what_is_known_of_cart_pole():
    task = task_of("CartPole-v1")
    assert task.env_id == "CartPole-v1"
    assert task.feature_names == (
        "cart position",
        "cart velocity",
        "pole angle",
        "pole angular velocity",
    )
    assert task.actions == Actions.discrete(("push left", "push right"))
    assert (task.n_features, task.n_actions, task.n_agents, task.max_steps) == (4, 2, None, 500)


def test_tasks_are_compared_and_hashed():
    assert task_of("CartPole-v1") == task_of("CartPole-v1")
    assert hash(task_of("CartPole-v1")) == hash(task_of("CartPole-v1"))
    assert task_of("CartPole-v1") != task_of("CartPole-v1", {"max_episode_steps": 9})


def test_a_task_of_a_task_is_itself():
    task = task_of("CartPole-v1")
    assert task_of(task) is task
    with pytest.raises(CrisptreeError, match="a Task has its env_kwargs and features already"):
        task_of(task, {"a": 1})
    assert task_of(task.source) == task


def tree(**fields) -> CrispTree:
    task = task_of("CartPole-v1")
    return CrispTree.leaf(0, task.feature_names, task.action_names, **fields)


class FromAFile:
    """What a policy file says, whatever a tree would make of it."""

    n_features, n_actions = 4, 2

    def __init__(self, env_id=None, env_kwargs=None, feature_function=None) -> None:
        self.env_id, self.env_kwargs = env_id, env_kwargs
        self.feature_function = feature_function


def test_a_policy_names_its_environment():
    assert task_of_policy(tree(env_id="CartPole-v1")).name == "CartPole-v1"
    assert task_of_policy(tree(), "CartPole-v1").name == "CartPole-v1"
    with pytest.raises(CrisptreeError, match="does not name its environment"):
        task_of_policy(tree())
    short = FromAFile("CartPole-v1", {"max_episode_steps": 9})
    assert task_of_policy(short).max_steps == 9
    assert task_of_policy(short, "CartPole-v1").max_steps == 9
    assert task_of_policy(short, "CartPole-v0").max_steps == 200


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """A module that tells whether it was imported."""
    (tmp_path / "evilmod.py").write_text("import sys\nsys.evil = True\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.delattr(sys, "evil", raising=False)
    yield
    sys.modules.pop("evilmod", None)


def test_a_policy_file_never_causes_an_import(evil):
    with pytest.raises(CrisptreeError, match="if you trust it, say --env evilmod:Evil-v0"):
        task_of_policy(FromAFile("evilmod:Evil-v0"))
    with pytest.raises(CrisptreeError, match="if you trust it, say --features evilmod:see"):
        task_of_policy(FromAFile("CartPole-v1", feature_function="evilmod:see"))
    with pytest.raises(CrisptreeError, match="say --features evilmod:see"):
        task_of_policy(FromAFile("evilmod:Evil", feature_function="evilmod:see"), "CartPole-v1")
    assert not hasattr(sys, "evil")
    with pytest.raises(CrisptreeError, match="no environment 'evilmod:Evil-v0'"):
        task_of_policy(FromAFile("evilmod:Evil-v0"), "evilmod:Evil-v0")
    assert hasattr(sys, "evil")


def test_escapes_in_a_file_are_not_printed():
    with pytest.raises(CrisptreeError) as caught:
        task_of_policy(FromAFile("evil\x1b[31m:Evil-v0"))
    assert "\x1b" not in str(caught.value)


def test_a_task_in_hand_suffices():
    task = task_of("CartPole-v1", features=lambda at: at)
    policy = FromAFile("evilmod:Evil", feature_function="evilmod:see")
    assert task_of_policy(policy, task) is task


def test_sizes_and_kinds_are_compared():
    with pytest.raises(CrisptreeError, match="policy has 4 features, 'helpers:Countdown' has 2"):
        task_of_policy(tree(), Countdown)
    policy: Any = FromAFile()
    policy.n_features, policy.n_actions = 3, 1
    policy.actions = Actions.discrete(("a",))
    with pytest.raises(CrisptreeError, match="has discrete actions, 'Pendulum-v1' has box ones"):
        task_of_policy(policy, "Pendulum-v1")


def test_own_ids_need_no_import(monkeypatch):
    registry = {id: spec for id, spec in gymnasium.registry.items() if "crisptree/" not in id}
    monkeypatch.setattr(registration, "registry", registry)
    monkeypatch.setattr(gymnasium, "registry", registry)
    monkeypatch.delitem(sys.modules, "crisptree.envs.gym_registration", raising=False)
    assert task_of("crisptree/Wildfire-v0").n_agents == 2
