import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.envs.spaces import Task, describe
from crisptree.learn.agent import create
from crisptree.learn.config import Learning
from crisptree.pipeline import teachers
from crisptree.pipeline.teachers import as_teacher, external_teacher, greedy
from crisptree.soft import SoftTree, balanced

TASK = Task("Some-v0", 2, 3, ("a", "b"), ("x", "y", "z"))
STATES = np.float32([[0, 0], [1, 0], [5, 1], [-1, 2]])


def steps(states: np.ndarray) -> np.ndarray:
    return np.clip(states[:, 0], 0, 2).astype(int)


class Predictor:
    """As scikit-learn's classifiers: actions alone."""

    def predict(self, states):
        return steps(states)


class Stateful:
    """As Stable-Baselines3's models: actions and a state; a column of actions here. They give
    their best action only if they are asked for it."""

    def predict(self, states, state=None, episode_start=None, deterministic=False):
        return (steps(states) if deterministic else 2 - steps(states))[:, None], state


@pytest.mark.parametrize(
    "expert",
    [
        steps,
        lambda states: steps(states).tolist(),
        lambda states: steps(states).astype(np.float32),
        lambda states: jnp.asarray(steps(states)),
        Predictor(),
        Stateful(),
    ],
)
def test_whoever_answers_a_batch_can_teach(expert):
    teach = as_teacher(expert, TASK)
    actions = teach(STATES)
    assert actions.tolist() == [0, 1, 2, 0]
    assert actions.shape == (4,)
    assert np.issubdtype(actions.dtype, np.integer)
    assert teach(STATES[:1]).shape == (1,)


def test_truth_values_are_actions():
    teach = as_teacher(lambda states: states[:, 0] > 0.5, TASK)
    assert teach(STATES).tolist() == [0, 1, 1, 0]


ONE_ACTION = r"must give one action \(0 to 2\) an observation"


@pytest.mark.parametrize(
    ("expert", "message"),
    [
        (lambda states: np.zeros((len(states), 3)), ONE_ACTION),
        (lambda states: 0, ONE_ACTION),
        (lambda states: np.full(len(states), 3), ONE_ACTION),
        (lambda states: np.full(len(states), -1), ONE_ACTION),
        (lambda states: np.full(len(states), 0.5), ONE_ACTION),
        (lambda states: np.full(len(states), np.nan), ONE_ACTION),
        (lambda states: None, ONE_ACTION),
        (lambda states: ["x"] * len(states), ONE_ACTION),
        (lambda states: states[:, 2], "fails on a batch of 2 features: index 2 is out of bounds"),
        ("a text", "a teacher must be callable on a batch, or have a predict method"),
    ],
)
def test_who_cannot_teach_is_told_so(expert, message):
    with pytest.raises(CrisptreeError, match=message):
        as_teacher(expert, TASK)


def test_a_policy_file(tmp_path):
    tree = CrispTree.from_nested((0, 0.5, "z", "x"), TASK.feature_names, TASK.action_names)
    tree.save(tmp_path / "a.json")
    assert external_teacher(str(tmp_path / "a.json"), TASK)(STATES).tolist() == [0, 2, 2, 0]


def test_a_policy_for_something_else(tmp_path):
    CrispTree.leaf(0, ("a", "b", "c"), ("x",)).save(tmp_path / "a.json")
    with pytest.raises(CrisptreeError, match="the teacher fails on a batch of 2 features"):
        external_teacher(str(tmp_path / "a.json"), TASK)
    with pytest.raises(CrisptreeError, match=r"cannot read .*none\.json"):
        external_teacher(str(tmp_path / "none.json"), TASK)


def test_a_name_in_a_module(tmp_path, monkeypatch):
    (tmp_path / "my_experts.py").write_text(
        "import numpy as np\ndef right(states):\n    return np.full(len(states), 2)\nnumber = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert external_teacher("my_experts:right", TASK)(STATES).tolist() == [2, 2, 2, 2]
    with pytest.raises(CrisptreeError, match="cannot import the teacher 'my_experts:wrong'"):
        external_teacher("my_experts:wrong", TASK)
    with pytest.raises(CrisptreeError, match="a teacher must be callable"):
        external_teacher("my_experts:number", TASK)
    with pytest.raises(
        CrisptreeError, match="cannot import the teacher 'nowhere:right': No module"
    ):
        external_teacher("nowhere:right", TASK)


def test_no_such_teacher():
    with pytest.raises(CrisptreeError, match=r"no teacher .guru.: give soft, mlp, a policy \.json"):
        external_teacher("guru", TASK)


def test_without_stable_baselines(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    with pytest.raises(CrisptreeError, match="needs the package: pip install 'crisptree"):
        external_teacher(str(tmp_path / "model.zip"), TASK)


class Model:
    """What Stable-Baselines3 would give back, and which of its classes knows the file."""

    knows = "DQN"

    def __init__(self, name: str) -> None:
        self.name = name

    def load(self, path, device):
        if self.name != self.knows:
            raise ValueError(f"not a {self.name}")
        return Stateful()


def test_a_model_of_stable_baselines(monkeypatch, tmp_path):
    fake = type(sys)("stable_baselines3")
    for name in ("PPO", "DQN", "A2C"):
        setattr(fake, name, Model(name))
    monkeypatch.setitem(sys.modules, "stable_baselines3", fake)
    path = tmp_path / "model.zip"
    with pytest.raises(CrisptreeError, match=f"no file {path}"):
        external_teacher(str(path), TASK)
    path.touch()
    assert external_teacher(str(path), TASK)(STATES).tolist() == [0, 1, 2, 0]
    monkeypatch.setattr(Model, "knows", "SAC")
    with pytest.raises(CrisptreeError, match="is not a PPO, DQN or A2C model of Stable-Baselines3"):
        external_teacher(str(path), TASK)


def test_an_agent_takes_its_likeliest_action(monkeypatch):
    """Whatever the size of the batch: padding is never seen."""
    task = describe("CartPole-v1")
    key = jax.random.key(3)
    tree = SoftTree.random(balanced(8), 4, 2, key=key)
    agent = create(tree, task.n_features, Learning(), 10, key=key)
    states = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
    expected = np.asarray(agent.log_policy(jnp.asarray(states)).argmax(-1))
    assert set(expected) == {0, 1}
    monkeypatch.setattr(teachers, "BATCH", 64)
    teach = greedy(agent)
    for n in (1, 2, 31, 32, 33, 64, 65, 200):
        np.testing.assert_array_equal(teach(states[:n]), expected[:n])
