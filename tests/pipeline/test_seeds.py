"""What selects a tree never scores it, and what trains it does neither: seen from the episodes.

Every seed that an environment is ever given is recorded, through the whole way.
"""

from collections import defaultdict
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from cartpole_trees import GOOD

from crisptree.crispen import forest, select
from crisptree.envs import cartpole_rows, host, score
from crisptree.envs.seeds import episode_seeds
from crisptree.learn import session
from crisptree.pipeline import recipe, train, way
from crisptree.pipeline.settings import Settings

pytestmark = pytest.mark.usefixtures("tiny")

TRAINING, SELECTION, REPORTING = (range(i * 2**29, (i + 1) * 2**29) for i in range(3))
Seeds = dict[str, list[int]]
TIMING = "_shared_pays"
"""A few steps, on machines of several cores, before training."""


class Purpose:
    """Which part of the way is at work when an environment is reset."""

    def __init__(self, monkeypatch) -> None:
        self.seeds: Seeds = defaultdict(list)
        self._now = ["nobody"]
        for module, name in [
            (way, "visited_states"),
            (way, "distill"),
            (train, "play"),
            (train, "random_return"),
            (host, TIMING),
        ]:
            monkeypatch.setattr(module, name, self.during(name, getattr(module, name)))
        for kind, method in ((select.Selection, "_play"), (session.Stage, "__init__")):
            monkeypatch.setattr(kind, method, self.during(kind.__name__, getattr(kind, method)))

    def during(self, name: str, work):
        def marked(*arguments, **options):
            self._now.append(name)
            try:
                return work(*arguments, **options)
            finally:
                self._now.pop()

        return marked

    def met(self, *seeds: int) -> None:
        self.seeds[self._now[-1]].extend(int(seed) for seed in seeds)


class Corridor(gymnasium.Env):
    """Five steps; the sign of the first number says which way earns."""

    observation_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)
    record = staticmethod(lambda seed: None)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.record(seed)
        self.left = 5
        return self._look(), {}

    def _look(self) -> np.ndarray:
        self.at = self.np_random.uniform(-1, 1, 2).astype(np.float32)
        return self.at

    def step(self, action):
        reward = float((self.at[0] > 0) == (action == 1))
        self.left -= 1
        return self._look(), reward, self.left == 0, False, {}


@pytest.fixture
def purpose(monkeypatch) -> Purpose:
    return Purpose(monkeypatch)


@pytest.fixture
def corridor(monkeypatch, purpose) -> str:
    monkeypatch.setattr(gymnasium.envs.registration, "registry", dict(gymnasium.registry))
    gymnasium.register("Corridor-v0", entry_point=Corridor)
    monkeypatch.setattr(Corridor, "record", staticmethod(purpose.met))
    return "Corridor-v0"


def apart(seeds: Seeds, seed: int, episodes: int) -> None:
    """Every part of the way drew from its own range; reporting exactly the seeds it promises."""
    assert seeds.pop("nobody", []) == []
    assert set(seeds.pop("play")) == set(episode_seeds("reporting", seed, episodes))
    ranges = dict.fromkeys(("Stage", "distill", "training", TIMING), TRAINING)
    for name, met in seeds.items():
        assert met
        assert all(each in ranges.get(name, SELECTION) for each in met), name


def test_a_tree_from_a_teacher_in_any_environment(corridor, purpose, tmp_path, monkeypatch):
    """Through distilling, refining, pruning and scoring."""
    monkeypatch.setattr(recipe, "HOST", replace(recipe.HOST, wide=3, rounds=2))
    teacher = tmp_path / "teacher.json"
    task = way.describe(corridor)
    replace(
        GOOD.from_nested((0, 0.0, (1, 0.5, 1, 1), 0), task.feature_names, task.action_names),
        env_id=corridor,
    ).save(teacher)
    settings = Settings(corridor, leaves=2, teacher=str(teacher), seed=3, starts=1, episodes=6)
    done = train.train(settings, tmp_path / "run")
    assert done.summary["crisp_return"] > 4  # the sign was found
    assert set(purpose.seeds) - {TIMING} == {
        "Stage",
        "Selection",
        "visited_states",
        "distill",
        "play",
        "random_return",
    }
    apart(purpose.seeds, 3, 6)


def test_the_papers_way_in_any_environment(corridor, purpose, tmp_path):
    settings = Settings(corridor, leaves=2, paper=True, seed=5, seeds=2, steps=256, episodes=3)
    train.train(settings, tmp_path / "run")
    first, second = (episode_seeds("reporting", seed, 3) for seed in (5, 6))
    assert set(purpose.seeds["play"]) == {*first, *second}
    purpose.seeds["play"] = first
    assert set(purpose.seeds) - {TIMING} == {"Stage", "Selection", "play", "random_return"}
    apart(purpose.seeds, 5, 3)


def test_cartpole_as_one_program(purpose, tmp_path, monkeypatch):
    """Where training draws keys instead of seeds; the rest is given seeds."""
    reset, played = cartpole_rows.CartPoleRows.reset, cartpole_rows.play_rows

    def host(self, seed):
        purpose.met(*range(seed, seed + self._n_envs))
        return reset(self, seed)

    def rows(decide, seeds, *report, **told):
        purpose.met(*seeds)
        return played(decide, seeds, *report, **told)

    monkeypatch.setattr(cartpole_rows.CartPoleRows, "reset", host)
    monkeypatch.setattr(forest, "play_rows", rows)
    monkeypatch.setattr(score, "play_rows", rows)
    teacher = tmp_path / "teacher.json"
    GOOD.save(teacher)
    for name, settings in {
        "direct": Settings("CartPole-v1", leaves=2, seed=3, episodes=4),
        "taught": Settings("CartPole-v1", rules=1, seed=3, episodes=4, teacher=str(teacher)),
    }.items():
        purpose.seeds.clear()
        monkeypatch.setattr(recipe, "CARTPOLE", replace(recipe.CARTPOLE, wide=2, starts=1))
        train.train(settings, tmp_path / name)
        assert {"Selection", "visited_states", "play", "random_return"} <= set(purpose.seeds)
        assert ("distill" in purpose.seeds) == (name == "taught")
        apart(purpose.seeds, 3, 4)
