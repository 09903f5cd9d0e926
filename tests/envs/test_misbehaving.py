"""Environments that do wrong: one line that names them and what they did, wherever they run."""

import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any, cast

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs import registration

from crisptree.base.errors import CrisptreeError
from crisptree.envs.evaluate import evaluate
from crisptree.envs.gymnasium_envs import GymnasiumEnvs
from crisptree.envs.policy import random_policy
from crisptree.envs.process_envs import ProcessEnvs
from crisptree.envs.rollout import rollout
from crisptree.envs.task import task_of


class Bad(gymnasium.Env):
    """Behaves until it is told to do something wrong, at reset or in its third step."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, fault: str = "", where: str = "step") -> None:
        self.fault, self.where = fault, where

    def _outcome(self, where: str):
        seen, reward = np.zeros(2, np.float32), 1.0
        if where != self.where:
            return seen, reward
        if self.fault == "raise":
            raise RuntimeError("the motor\nburned out")
        if self.fault == "exit":
            sys.exit(3)
        if self.fault == "print":
            print("hello from the environment")
        odd = {
            "nan": np.array([0, np.nan]),
            "inf": np.array([np.inf, 0]),
            "none": None,
            "shape": np.zeros(3),
            "text": "two",
            "complex": np.array([1j, 0]),
            "beyond": [10**400, 0],
        }
        odd_rewards = {
            "reward nan": np.nan,
            "reward inf": -np.inf,
            "reward none": None,
            "reward text": "much",
            "reward vector": np.zeros(2),
            "reward huge": 1e9,
            "reward beyond": 1e39,
            "reward of 400 digits": 10**400,
            "reward of no time": np.datetime64("NaT"),
            "reward complex": 1j,
        }
        return odd.get(self.fault, seen), odd_rewards.get(self.fault, reward)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return self._outcome("reset")[0], {}

    def step(self, action):
        self.time += 1
        seen, reward = self._outcome("step" if self.time == 3 else "")
        return seen, reward, self.time == 6, False, {}


FAULTS = {
    ("raise", "step"): "failed in step: RuntimeError: the motor",
    ("raise", "reset"): "failed in reset: RuntimeError: the motor",
    ("exit", "step"): "called sys.exit(3) in step",
    ("exit", "reset"): "called sys.exit(3) in reset",
    ("nan", "step"): "returned NaN or None in an observation (number 1)",
    ("nan", "reset"): "returned NaN or None in an observation (number 1)",
    ("inf", "step"): "returned inf or a number beyond float32",
    ("none", "step"): "returned None as its observation",
    ("none", "reset"): "returned None as its observation",
    ("shape", "step"): "of shape (3,); its space says (2,)",
    ("text", "reset"): "no array of numbers (str)",
    ("complex", "step"): "no array of numbers (ndarray)",
    ("beyond", "reset"): "no array of numbers (list)",
    ("reward of 400 digits", "step"): "returned a reward that is no number (int)",
    ("reward of no time", "step"): "returned a reward that is no number (datetime64)",
    ("reward complex", "step"): "returned a reward that is no number (complex)",
    ("reward nan", "step"): "returned the reward nan; it must be a finite number",
    ("reward inf", "step"): "returned the reward -inf",
    ("reward beyond", "step"): "returned the reward 1e+39; it must be a finite number of float32",
    ("reward none", "step"): "returned the reward None",
    ("reward text", "step"): "returned a reward that is no number (str)",
    ("reward vector", "step"): "returned a reward that is no number (ndarray)",
}


def played(task) -> None:
    rollout([random_policy(task, 0)], task, range(3))


def stepped(task) -> None:
    envs = GymnasiumEnvs(task, 3)
    envs.reset(0)
    for _ in range(8):
        envs.step(np.zeros(3, np.int64))


@pytest.mark.parametrize("run", [played, stepped])
@pytest.mark.parametrize(("fault", "where"), FAULTS)
def test_one_line_says_what_it_did(run, fault, where):
    task = task_of(Bad, {"fault": fault, "where": where})
    with pytest.raises(CrisptreeError) as caught:
        run(task)
    message = str(caught.value)
    assert "Bad'" in message
    assert FAULTS[fault, where] in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("fault", "where"), [("raise", "step"), ("exit", "step"), ("nan", "reset"), ("none", "step")]
)
def test_the_same_line_from_another_process(fault, where):
    task = task_of(Bad, {"fault": fault, "where": where})
    envs = ProcessEnvs(task, 3, 2)
    with pytest.raises(CrisptreeError) as caught:
        envs.reset(0)
        for _ in range(8):
            envs.step(np.zeros(3, np.int64))
    assert FAULTS[fault, where] in str(caught.value)
    assert "\n" not in str(caught.value)
    envs.close()


def test_huge_rewards_just_work():
    task = task_of(Bad, {"fault": "reward huge"})
    assert rollout([random_policy(task, 0)], task, [0]).returns.tolist() == [[1e9 + 5]]
    stepped(task)


def test_what_it_prints_goes_to_standard_error(capsys):
    task = task_of(Bad, {"fault": "print"})
    score = evaluate(lambda rows: np.zeros(len(rows), int), task, episodes=2)
    assert score.mean == 6
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("hello from the environment") == 2
    assert json.loads(json.dumps(score.to_dict()))["mean"] == 6


def broken(what: str) -> Any:
    class Broken(Bad):
        def __init__(self) -> None:
            if what == "raises":
                raise ValueError("no licence")
            if what == "exits":
                sys.exit("bye")
            if what == "no spaces":
                del self.observation_space
            if what == "another specification":
                self.spec = cast(Any, SimpleNamespace(id="Broken-v0"))
            if what == "metadata of a list":
                self.metadata = cast(Any, ["human"])

    if what == "no spaces":
        Broken.observation_space = cast(Any, None)
        Broken.__init__ = lambda self: None
    return (lambda: {"an": "object"}) if what == "no environment" else Broken


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("raises", "failed in its factory: ValueError: no licence"),
        ("exits", "called sys.exit('bye') in its factory"),
        ("metadata of a list", "failed in the description of its spaces: "),
        ("no environment", "is a dict; a gymnasium.Env would be right"),
        ("no spaces", "has no observation_space of gymnasium's but NoneType"),
    ],
)
def test_environments_that_cannot_be_made(what, message):
    with pytest.raises(CrisptreeError) as caught:
        task_of(broken(what))
    assert message in str(caught.value)


def test_a_specification_of_its_own_says_nothing():
    assert task_of(broken("another specification")).max_steps is None


def test_a_registered_one_that_cannot_be_made(monkeypatch):
    monkeypatch.setattr(registration, "registry", dict(gymnasium.registry))
    gymnasium.register("Bad-v0", entry_point=broken("raises"))
    with pytest.raises(CrisptreeError, match="'Bad-v0' failed in its making: ValueError"):
        task_of("Bad-v0")


def test_a_process_that_ends_is_told():
    """A crash in C ends the process without a word."""
    program = """
import os, gymnasium, numpy as np
from crisptree.envs.process_envs import ProcessEnvs
from crisptree.envs.task import task_of

class Crashing(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (1,))
    action_space = gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        return np.zeros(1, np.float32), {}
    def step(self, action):
        os._exit(9)

envs = ProcessEnvs(task_of(Crashing), 4, 2)
envs.reset(0)
try:
    envs.step(np.zeros(4, int))
except ValueError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "the environment '__main__:Crashing' ended its process in step\n"
