"""Where observations repeat, a model is learned first; it counts if episodes earn what it says."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from runs import read
from small import small_config

from crisptree.crisp import CrispTree
from crisptree.envs.task import task_of
from crisptree.pipeline.config import CandidateConfig, PolicyConfig, TableConfig, TrainConfig
from crisptree.pipeline.resolve import measure, resolve
from crisptree.pipeline.timing import Measurement
from crisptree.pipeline.train import train


class Crossroads(gym.Env):
    """Four rooms in a row and a way out at either end; which one pays is told."""

    observation_space = gym.spaces.Dict(
        {"room": gym.spaces.Discrete(4), "told": gym.spaces.Discrete(2)}
    )
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.room, self.side, self.time = 1, int(self.np_random.integers(2)), 0
        return {"room": self.room, "told": self.side}, {}

    def step(self, action):
        self.time += 1
        to = self.room + (1 if action else -1)
        is_out, self.room = not 0 <= to <= 3, int(np.clip(to, 0, 3))
        reward = 1.0 if is_out and (to > 3) == bool(self.side) else 0.0
        return {"room": self.room, "told": self.side}, reward, is_out, self.time >= 20, {}


class Door(gym.Env):
    """One of two keys opens, all the time the same one. What is seen does not tell which, so that a
    table takes what is fixed for chance: to try again and again would do."""

    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.key, self.time = int(self.np_random.integers(2)), 0
        return 0, {}

    def step(self, action):
        self.time += 1
        opens = int(action) == self.key
        return 0, float(opens), opens, self.time >= 20, {}


class Window(gym.Env):
    """The way out pays 1 on some days and ½ on others, which the window tells. Who looks away and
    back sees the same day; a table takes it for another one."""

    observation_space = gym.spaces.Discrete(3)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.day, self.looks, self.time = int(self.np_random.integers(2)), True, 0
        return self.day, {}

    def step(self, action):
        self.time += 1
        if action and self.looks:
            return self.day, 0.5 + 0.5 * self.day, True, False, {}
        self.looks = not self.looks
        return self.day if self.looks else 2, 0.0, False, self.time >= 20, {}


def config() -> TrainConfig:
    return small_config(
        "Crossroads",
        policy=PolicyConfig("tree", 4),
        candidates=CandidateConfig(("direct",), 1),
        table=TableConfig(first=True),
    )


def test_it_is_the_result_where_episodes_agree(tmp_path):
    done = train(config(), task_of(Crossroads), tmp_path / "run")
    assert done.summary["beginning"] == "table" and done.summary["crisp_return"] == 1.0
    assert done.tree is not None and done.tree.n_leaves <= 4
    assert not (tmp_path / "run" / "stages").exists()  # nobody else began
    again = train(config(), task_of(Crossroads), tmp_path / "again")
    assert again.tree == done.tree


def test_it_is_resumed(tmp_path):
    done = train(config(), task_of(Crossroads), tmp_path / "run")
    for name in ("summary.json", "table/stages/02-model-search/result.json"):
        (tmp_path / "run" / name).unlink()
    again = train(config(), task_of(Crossroads), tmp_path / "run", resume=True)
    assert again.tree == done.tree


def test_others_race_where_episodes_do_not_agree(tmp_path):
    done = train(config(), task_of(Door), tmp_path / "run")
    assert done.summary["beginning"] == "direct"
    assert "promised" not in done.summary["stages"][-1]


def test_a_discount_where_the_model_promises_too_much(tmp_path):
    train(config(), task_of(Window), tmp_path / "run")
    found = read(tmp_path / "run" / "table" / "stages" / "02-model-search" / "result.json")
    assert found["promised"] > 0.9 and not found["settled"]
    assert found["selection_return"] == pytest.approx(0.75, abs=0.2)  # without one: ½ at most
    assert CrispTree.from_dict(
        read(tmp_path / "run" / "table" / "stages" / "02-model-search" / "policy.json")
    ).act(np.eye(3, dtype=np.float32)[:2]).tolist() == [1, 1]


def test_who_gets_one():
    asked, repeating = TrainConfig(), Measurement(1e4, 20.0, repeats=1.0)
    task = task_of(Crossroads)
    assert resolve(asked, task, repeating).table.first is True
    assert resolve(asked, task, replace(repeating, repeats=0.5)).table.first is False
    direct = replace(asked, candidates=CandidateConfig(("direct",)))
    assert resolve(direct, task, repeating).table.first is False
    assert resolve(asked, task_of("Pendulum-v1"), repeating).table.first is False
    # What the environment knows of itself is better still.
    assert resolve(asked, task_of("FrozenLake-v1"), repeating).table.first is False


def test_whether_observations_repeat_is_measured():
    assert measure(task_of(Crossroads), 0).repeats == 1.0
    assert measure(task_of("CartPole-v1"), 0).repeats < 0.1
