"""Any way to name an environment, and its travel to another process."""

import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs import registration
from helpers import Countdown, Still

from crisptree.base.errors import CrisptreeError
from crisptree.envs.policy import random_policy
from crisptree.envs.rollout import rollout
from crisptree.envs.source import EnvSource, source_of
from crisptree.envs.task import task_of

TANK = """
import gymnasium, numpy as np

class Tank(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0, 10, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)
    def __init__(self, size=10.0):
        self.size = size
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.level, self.time = self.size / 2, 0
        return np.array([self.level], np.float32), {}
    def step(self, action):
        self.level, self.time = self.level + (1 if action else -1), self.time + 1
        over = not 0 <= self.level <= self.size
        return np.array([self.level], np.float32), 1.0, over, self.time >= 20, {}

def small():
    return Tank(4.0)

def level(observation):
    return {"level": float(observation[0]), "full": bool(observation[0] > 4)}

number = 3
gymnasium.register("Tank-v0", entry_point="tank:Tank")
"""


@pytest.fixture
def tank(tmp_path, monkeypatch) -> Iterator[Path]:
    """A module in the working directory, which is not on the path; all as before afterwards."""
    (tmp_path / "tank.py").write_text(TANK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(registration, "registry", dict(gymnasium.registry))
    monkeypatch.delitem(sys.modules, "tank", raising=False)
    yield tmp_path
    sys.modules.pop("tank", None)


def inside(task) -> Any:
    """The environment itself, as its own module knows it."""
    return task.make().unwrapped


def length(task) -> int:
    policy = random_policy(task, 0)
    return int(rollout([policy], task, [0]).lengths[0, 0])


@pytest.mark.parametrize("name", ["tank:Tank-v0", "tank:Tank", "tank:small"])
def test_a_module_of_the_working_directory(tank, name):
    task = task_of(name)
    assert task.env_id == task.name == name
    assert length(task) > 0


def test_arguments(tank):
    task = task_of("tank:Tank", {"size": 2})
    assert task.env_kwargs == {"size": 2}
    assert inside(task).size == 2
    assert inside(task_of("tank:Tank-v0", {"size": 2})).size == 2
    windy = task_of("LunarLander-v3", {"enable_wind": True})
    assert inside(windy).enable_wind


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere:Tank", "cannot import the environment 'nowhere:Tank': ModuleNotFoundError"),
        ("tank:Lake-v0", "no environment 'tank:Lake-v0'"),
        ("tank:Lake", "no environment 'tank:Lake'"),
        ("tank:number", "'tank:number' is int; an environment class or a function"),
        (":Tank", "cannot import the environment"),
        ("tank:", "no environment 'tank:'"),
        ("Lake-v0", "(if a package registers it, name the package too: package:Lake-v0)"),
        ("LunarLandr-v3", "Did you mean: `LunarLander`?"),
    ],
)
def test_names_that_lead_nowhere(tank, name, message):
    with pytest.raises(CrisptreeError) as caught:
        task_of(name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_module_that_fails_to_import(tank):
    (tank / "broken_tank.py").write_text("print('hello')\nraise RuntimeError('no water')\n")
    with pytest.raises(CrisptreeError, match=r"broken_tank:Tank.*RuntimeError: no water"):
        task_of("broken_tank:Tank")


@pytest.mark.parametrize(
    "env_id", ["Nowhere-v0", "CartPole-v9", "no/such-thing", "a b", "", "CartPole-v-1"]
)
def test_unknown_ids(env_id):
    with pytest.raises(CrisptreeError, match="no environment") as caught:
        task_of(env_id)
    assert "\n" not in str(caught.value)


def test_terminal_escapes_in_an_id_are_not_printed():
    with pytest.raises(CrisptreeError) as caught:
        task_of("Evil\x1b[31m-v0")
    assert "\x1b" not in str(caught.value)


def test_an_environment_that_lacks_its_package(monkeypatch):
    def entry_point(**kwargs: Any) -> gymnasium.Env:
        raise ImportError("no module named frobnicate")

    monkeypatch.setattr(registration, "registry", dict(gymnasium.registry))
    gymnasium.register("Lacking-v0", entry_point=entry_point)
    with pytest.raises(CrisptreeError, match=r"'Lacking-v0' needs a package: .*frobnicate"):
        task_of("Lacking-v0")


def test_arguments_that_it_does_not_take():
    with pytest.raises(CrisptreeError, match="'CartPole-v1' failed in its making: TypeError"):
        task_of("CartPole-v1", {"nonsense": 1})
    with pytest.raises(CrisptreeError, match="function that makes 'CartPole-v1'"):
        task_of("CartPole-v1", {"nonsense": object()})


def test_a_deprecated_version_is_made_in_silence():
    """gymnasium warns of old versions; one that it still makes does not trouble the user."""
    assert task_of("CartPole-v0").n_features == 4
    with pytest.raises(CrisptreeError, match="LunarLander-v2"):
        task_of("LunarLander-v2")


def test_an_id_without_a_version_is_the_newest_one():
    assert task_of("CartPole").env_id == "CartPole-v1"  # a policy file says which one it was
    assert source_of("CartPole-v0").env_id == "CartPole-v0"
    assert source_of("Unheard").env_id == "Unheard"


def test_a_factory():
    assert task_of(Countdown).env_id == "helpers:Countdown"
    assert task_of(lambda: Countdown()).env_id is None
    assert "<lambda>" in task_of(lambda: Countdown()).name
    task = task_of(Still, {"seen": gymnasium.spaces.Discrete(3)})
    assert (task.env_id, task.n_features) == (None, 3)
    assert task.signature["env_kwargs"] == {}


def test_an_environment_object_is_copied():
    env: Any = Countdown()
    env.marked = True
    task = task_of(env)
    made: Any = task.make()
    assert made is not env
    assert made.marked
    assert task.env_id is None
    assert length(task) == 5


def test_an_object_from_the_registry_keeps_its_name_and_its_changes():
    env: Any = gymnasium.make("CartPole-v1", max_episode_steps=30)
    env.unwrapped.gravity = 1.0
    task = task_of(env)
    assert (task.env_id, task.env_kwargs) == ("CartPole-v1", {"max_episode_steps": 30})
    assert task.max_steps == 30
    assert inside(task).gravity == 1.0


def test_an_object_that_cannot_be_copied_is_made_again():
    """Box2D's worlds live in C."""
    task = task_of(gymnasium.make("LunarLander-v3", enable_wind=True))
    assert (task.env_id, task.env_kwargs) == ("LunarLander-v3", {"enable_wind": True})
    assert inside(task).enable_wind


def test_a_wrapped_object_has_no_name_in_a_file():
    env = gymnasium.wrappers.FlattenObservation(gymnasium.make("CartPole-v1"))
    assert task_of(env).env_id is None


class Stuck(Countdown):
    def __deepcopy__(self, memo):
        raise TypeError("cannot pickle a socket")


def test_an_object_that_can_be_neither():
    with pytest.raises(CrisptreeError, match=r"cannot be copied .*give a function that makes it"):
        task_of(Stuck())
    with pytest.raises(CrisptreeError, match="env_kwargs go with an id"):
        task_of(Countdown(), {"a": 1})


@pytest.mark.parametrize("env", [3, None, ["CartPole-v1"]])
def test_what_is_no_environment(env):
    with pytest.raises(CrisptreeError, match="an environment is an id"):
        source_of(env)


def run(program: str, folder: Path) -> str:
    """What a script of its own prints, in a folder of its own."""
    path = folder / "script.py"
    path.write_text(textwrap.dedent(program))
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=120, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


CHILD = """
import subprocess, sys
def elsewhere(source):
    '''The environment's observation after a reset, in a fresh process.'''
    code = (
        "import sys; from crisptree.envs.source import EnvSource; "
        "from crisptree.envs.task import task_of; "
        "task = task_of(EnvSource.from_bytes(sys.stdin.buffer.read())); "
        "print(task.name, task.feature_names, task.observe(task.make().reset(seed=0)[0]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=source.to_bytes(), capture_output=True, cwd="/"
    )
    print(done.stdout.decode() or done.stderr.decode())
"""


def test_what_a_script_registers_travels_to_another_process(tmp_path):
    script = TANK.replace('entry_point="tank:Tank"', 'entry_point="__main__:Tank"') + CHILD
    script += (
        "from crisptree.envs.task import task_of\n"
        "elsewhere(task_of('Tank-v0', {'size': 6}, level).source)\n"
        "elsewhere(task_of(Tank(8.0)).source)\n"
        "elsewhere(task_of(lambda: Tank(2.0)).source)\n"
    )
    lines = [line for line in run(script, tmp_path).splitlines() if line]
    assert lines[0] == "Tank-v0 ('level', 'full') [3. 0.]"
    assert lines[1].endswith("('x0',) [4.]")
    assert lines[2].endswith("('x0',) [1.]")


def test_a_module_of_the_working_directory_travels(tank):
    script = CHILD + (
        "from crisptree.envs.task import task_of\n"
        "elsewhere(task_of('tank:Tank', features='tank:level').source)\n"
        "elsewhere(task_of('tank:Tank-v0').source)\n"
    )
    lines = [line for line in run(script, tank).splitlines() if line]
    assert lines == ["tank:Tank ('level', 'full') [5. 1.]", "tank:Tank-v0 ('x0',) [5.]"]


def test_what_cannot_travel_says_so():
    lock = threading.Lock()
    with pytest.raises(CrisptreeError, match="cannot be sent to another process"):
        EnvSource(None, {}, lambda: Still(metadata={"lock": lock})).to_bytes()


def test_what_are_no_features():
    with pytest.raises(CrisptreeError, match="features must be a function or module:function"):
        source_of("CartPole-v1", features=3)


def features(observation) -> dict[str, float]:
    return {"sum": float(np.sum(observation)), "positive": bool(observation[0] > 0)}


def as_array(observation) -> np.ndarray:
    return np.asarray(observation)[:2]


setattr(as_array, "feature_names", ("one", "two"))  # noqa: B010 (a function of any kind)


def test_features_of_the_user_s_own():
    task = task_of("CartPole-v1", features=features)
    assert task.feature_names == ("sum", "positive")
    assert [feature.kind for feature in task.features] == ["number", "flag"]
    assert task.observe(np.array([1.0, 2.0, 3.0, 4.0])).tolist() == [10, 1]
    assert task.signature["feature_function"].endswith(":features")
    assert task_of("CartPole-v1", features=as_array).feature_names == ("one", "two")
    assert task_of("CartPole-v1", features=lambda at: at[:2]).feature_names == ("x0", "x1")
    rollout([random_policy(task, 0)], task, range(3))


def test_features_by_name(tank):
    task = task_of("tank:Tank", features="tank:level")
    assert task.feature_names == ("level", "full")
    assert task.signature["feature_function"] == "tank:level"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("level", "features are named module:function"),
        ("tank:nothing", "has no function 'nothing'"),
        ("nowhere:level", "cannot import the features 'nowhere:level'"),
        (lambda at: {}, "returned no features"),
        (lambda at: {"a": np.nan}, "returned no finite number for 'a'"),
        (lambda at: {"a": "high"}, "must return the same 1 numbers"),
        (lambda at: [[1.0], [1.0, 2.0]], "returned list; a dict of named numbers or an array"),
        (lambda at: {"a": 10**400}, "must return the same 1 numbers"),
        (lambda at: at[99], "failed on an observation of 'tank:Tank': IndexError"),
    ],
)
def test_features_that_fail(tank, given, message):
    with pytest.raises(CrisptreeError) as caught:
        task = task_of("tank:Tank", features=given)
        task.observe(np.zeros(1))
    assert message in str(caught.value)


def test_features_that_change_their_names():
    names = iter(["a", "a", "b", "b"])
    task = task_of("CartPole-v1", features=lambda at: {next(names): 1.0})
    with pytest.raises(CrisptreeError, match="must return the same 1 numbers each time: a"):
        task.observe_batch([np.zeros(4)] * 2)


def test_names_for_an_array_must_fit():
    def returned(observation):
        return observation

    wrong: Any = returned
    wrong.feature_names = ["a", "b"]
    with pytest.raises(CrisptreeError, match="returned 4 numbers and has 2 feature_names"):
        task_of("CartPole-v1", features=wrong)


def test_features_of_each_agent_of_a_team():
    task = task_of("crisptree/Wildfire-v0", features=lambda row: {"north": row[0], "west": row[1]})
    assert task.n_agents == 2
    assert task.observe(np.arange(12.0).reshape(2, 6)).tolist() == [[0, 1], [6, 7]]
    rollout([random_policy(task, 0)], task, [0], max_steps=3)
