"""`crisptree.TreePolicy`: learn, predict, save, load, go on, as users of other libraries expect."""

import inspect
import json
import re
import subprocess
import sys
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from small import small_config

import crisptree
from crisptree import CrisptreeError, TreePolicy
from crisptree.crisp import CrispTree
from crisptree.pipeline.config import EnvConfig

CONFIG = replace(small_config(), env=EnvConfig())
POLICY = "policies/cartpole-tree-4.json"


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    out = tmp_path_factory.mktemp("learned") / "run"
    model = TreePolicy("CartPole-v1", leaves=2, config=CONFIG)
    assert model.learn(progress_bar=False, out=out) is model
    return model


def test_it_learns_predicts_and_scores(learned):
    assert learned.tree.n_leaves <= 2 and learned.trained.tree == learned.tree
    action, state = learned.predict([0.0, 0.1, 0.02, -0.3])
    assert action in (0, 1) and state is None
    assert learned.predict(np.zeros((3, 4)))[0].shape == (3,)
    assert len(learned.evaluate(episodes=3).returns) == 3


def test_the_run_says_by_which_command_it_can_be_had(learned):
    record = json.loads((learned.trained.path / "config.json").read_text())
    assert record["command"].startswith("crisptree train CartPole-v1 ")


def test_saved_and_loaded_it_is_the_same(learned, tmp_path):
    learned.save(tmp_path / "policy.json")
    loaded = TreePolicy.load(tmp_path / "policy.json")
    assert loaded.tree == learned.tree == TreePolicy.load(learned.trained.path).tree
    assert CrispTree.load(tmp_path / "policy.json") == learned.tree


def test_learning_again_goes_on_from_the_tree(learned, tmp_path):
    model = TreePolicy.load(learned.trained.path, "CartPole-v1", leaves=2, config=CONFIG)
    model.learn(progress_bar=False, out=tmp_path / "more")
    summary = json.loads((tmp_path / "more" / "summary.json").read_text())
    assert summary["beginning"] == "expert"
    assert model.trained is not None
    assert summary["changes"] and model.trained.path == tmp_path / "more"


def test_a_callback_stops_and_learning_goes_on_where_it_was(learned, tmp_path):
    rows = []

    def stop(row):
        rows.append(row)
        return len(rows) < 3

    model = TreePolicy("CartPole-v1", leaves=2, config=CONFIG)
    model.learn(callback=[stop], progress_bar=False, out=tmp_path / "run")
    with pytest.raises(CrisptreeError, match="learned nothing yet"):
        _ = model.tree
    assert len(rows) == 3 and rows[0]["total_step"] < rows[2]["total_step"]
    model.learn(progress_bar=False)
    assert model.tree == learned.tree  # bit for bit


class Rooms(gym.Env):
    """Observations that are no vector."""

    observation_space = gym.spaces.Dict({"room": gym.spaces.Discrete(3)})
    action_space = gym.spaces.Discrete(2, start=1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return {"room": 0}, {}

    def step(self, action):
        return {"room": 1}, 0.0, True, False, {}


def test_observations_go_through_the_spaces(tmp_path):
    task = TreePolicy(Rooms)._environment()
    tree = CrispTree.from_nested((0, 0.5, 1, 0), **task.signature)
    tree.save(tmp_path / "rooms.json")
    model = TreePolicy.load(tmp_path / "rooms.json", Rooms)
    assert [model.predict({"room": room})[0] for room in (0, 2)] == [2, 1]


def test_wrong_words_are_named():
    words: dict[str, Any] = {"leavs": 3}
    with pytest.raises(CrisptreeError, match="TreePolicy takes no 'leavs': did you mean leaves"):
        TreePolicy("CartPole-v1", **words)
    with pytest.raises(CrisptreeError, match="takes no 'lr'"):
        TreePolicy("CartPole-v1").set_params(lr=3)
    with pytest.raises(CrisptreeError, match="no environment to learn on"):
        TreePolicy().learn()
    with pytest.raises(CrisptreeError, match="has 4 features, 'MountainCar-v0' has 2"):
        TreePolicy.load(POLICY, "MountainCar-v0")


@pytest.mark.parametrize(
    "wrong, right",
    [
        ("leafs", "did you mean leaves?"),
        ("max_leaf_nodes", "did you mean leaves?"),
        ("callback", "did you mean on_progress?"),
        ("gamma", 'it is a field of the configuration: overrides={"ppo.gamma": …}'),
        ("lr", 'it is a field of the configuration: overrides={"ppo.learning_rate": …}'),
        ("device", "it takes leaves, rules, mlp"),
    ],
)
def test_words_of_other_libraries_are_named_in_ours(wrong, right):
    words: dict[str, Any] = {wrong: 3}
    with pytest.raises(CrisptreeError) as refused:
        crisptree.train("CartPole-v1", **words)
    assert str(refused.value).startswith(f"train takes no '{wrong}': {right}")


@pytest.mark.parametrize(
    "wrong, right",
    [("total_timesteps", "total_timesteps"), ("budget", "budget"), ("callback", "callback")],
)
def test_what_learn_takes_is_said_of_learn(wrong, right):
    words: dict[str, Any] = {wrong: 3}
    with pytest.raises(CrisptreeError, match=rf"takes no '{wrong}': learn\(\) takes {right}$"):
        TreePolicy("CartPole-v1", **words)
    words = {"seconds": 3}
    with pytest.raises(CrisptreeError, match="learn takes no 'seconds'"):
        TreePolicy("CartPole-v1").learn(**words)


# A process of its own: here types are checked before the library sees what is wrong.
WRONG = """
import crisptree
try:
    crisptree.TreePolicy("CartPole-v1").learn(callback=3)
except crisptree.CrisptreeError as error:
    print(error)
for wrong in (
    {"leaves": "four"}, {"config": {"seed": 1}}, {"config": "none.json"}, {"overrides": [1]},
    {"overrides": {"gamma": 1}}, {"on_progress": 3}, {"out": 3}, {"env_kwargs": 3},
):
    try:
        crisptree.train("CartPole-v1", **wrong)
    except crisptree.CrisptreeError as error:
        print(error)
"""


def test_what_is_no_setting_is_refused_in_one_line():
    done = subprocess.run([sys.executable, "-c", WRONG], capture_output=True, text=True, check=True)
    said = done.stdout.splitlines()
    assert said.pop(0) == "a callback is a function that takes a dict of figures, not int"
    assert said[0] == "leaves must be a whole number, not 'four'"
    assert said[1].startswith("config is a TrainConfig or the path of its file, not dict; ")
    assert said[2] == "cannot read none.json: No such file or directory"
    assert said[3].startswith("overrides are a dict of dotted names and values, such as ")
    assert said[4] == "config has no field 'gamma'; did you mean 'ppo.gamma'?"
    assert said[5] == "a callback is a function that takes a dict of figures, not int"
    assert said[6] == "out is the path of a directory, not int"
    assert said[7] == "env_kwargs are a dict of what the environment is made with, not int"


def test_settings_are_copied_as_scikit_learn_does():
    sklearn = pytest.importorskip("sklearn.base")
    model = TreePolicy("CartPole-v1", leaves=4).set_params(seed=7)
    copy = sklearn.clone(model)
    assert copy is not model and copy.get_params() == model.get_params()
    assert repr(copy) == "TreePolicy('CartPole-v1', leaves=4, seed=7)"


def test_its_picture():
    model = TreePolicy.load(POLICY)
    assert "<svg" in (model._repr_html_() or "") and TreePolicy("CartPole-v1")._repr_html_() is None
    assert "4 leaves" in repr(model)


def test_every_keyword_of_train_is_documented_and_has_its_place_here():
    keywords = set(inspect.signature(crisptree.train).parameters) - {"more", "unknown"}
    documented = set(re.findall(r"^ {8}(\w+): ", crisptree.train.__doc__ or "", re.MULTILINE))
    assert documented == keywords
    here = {
        *inspect.signature(TreePolicy).parameters,
        *inspect.signature(TreePolicy.learn).parameters,
    }
    named_otherwise = {"steps", "progress", "on_progress", "resume"}
    assert keywords - here - named_otherwise == {"mlp", "paper", "seeds"}
