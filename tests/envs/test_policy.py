import numpy as np
import pytest
from gymnasium import spaces
from helpers import LINE, Countdown, balance, make_task

from crisptree.base.errors import CrisptreeError
from crisptree.envs.policy import (
    FunctionPolicy,
    Policy,
    policy_from,
    random_policy,
)
from crisptree.envs.task import task_of

TASK = task_of("CartPole-v1")
ROWS = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)


class Model:
    """As Stable-Baselines3's: samples unless told not to, answers with a pair."""

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        assert deterministic
        return balance(observation), state


class Classifier:
    """As scikit-learn's."""

    def predict(self, rows):
        return balance(rows)


@pytest.mark.parametrize("given", [Model(), Classifier(), balance, FunctionPolicy(balance)])
def test_whatever_people_have(given):
    policy = policy_from(given, TASK)
    assert isinstance(policy, Policy)
    assert policy.act(ROWS).tolist() == balance(ROWS).tolist()
    assert policy.act(ROWS[:1]).shape == (1,)


def test_others_answer_with_the_environment_s_own_actions():
    task = task_of(Countdown)  # its actions start at -1
    least = policy_from(lambda rows: np.full(len(rows), -1), task)
    assert least.act(np.zeros((3, 2))).tolist() == [0, 0, 0]


class Tabular:
    """A model that was trained on the numbers of the states themselves."""

    observation_space = spaces.Discrete(16)

    def predict(self, observation):
        assert observation.dtype.kind == "i"
        return observation % 4


def test_a_model_of_the_environment_s_own_observations_gets_them():
    task = task_of("FrozenLake-v1")
    policy = policy_from(Tabular(), task)
    assert policy.act(task.observe_batch(list(range(16)))).tolist() == [0, 1, 2, 3] * 4


def test_stable_baselines_3_itself():
    sb3 = pytest.importorskip("stable_baselines3")
    model = sb3.PPO("MlpPolicy", "FrozenLake-v1", n_steps=8, batch_size=8)
    policy = policy_from(model, task_of("FrozenLake-v1"))
    rows = task_of("FrozenLake-v1").observe_batch([0, 3, 5])
    expected = model.predict(np.array([0, 3, 5]), deterministic=True)[0]
    assert policy.act(rows).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "must be callable on a batch, or have a predict"),
        (lambda rows: rows[:, 9], "fails on a batch of 4 features: IndexError"),
        (lambda rows: np.full(len(rows), 7), r"must give one action \(0 to 1\)"),
        (lambda rows: [0], "gives 1 actions for 2 observations"),
    ],
)
def test_policies_that_do_not_fit(given, message):
    with pytest.raises(CrisptreeError, match=message):
        policy_from(given, TASK)


@pytest.mark.parametrize(
    ("done", "wrong"),
    [
        (spaces.MultiDiscrete([2, 3]), np.array([[0, 3], [0, 0]])),
        (spaces.Box(-1, 1, (2,)), np.array([[0.0, np.nan], [0.0, 0.0]])),
    ],
)
def test_wrong_actions_of_other_kinds(done, wrong):
    task = make_task(LINE, done)
    with pytest.raises(CrisptreeError, match="must give 2"):
        policy_from(lambda rows: wrong, task)


def test_a_policy_of_another_action_size():
    task = make_task(LINE, spaces.Box(-1, 1, (2,)))
    with pytest.raises(CrisptreeError, match=r"gives 3 numbers for each observation; .* needs 2"):
        policy_from(lambda rows: np.zeros((len(rows), 3)), task)
    with pytest.raises(CrisptreeError, match=r"gives 2 numbers for each observation; .* needs 1"):
        policy_from(lambda rows: np.zeros((len(rows), 2)), TASK)


def test_a_policy_that_gives_nan_only_later_is_named_as_the_one_at_fault():
    task = make_task(LINE, spaces.Box(-1, 1, (2,)))
    policy = policy_from(lambda rows: np.where(rows[:, :2] > 0.5, np.nan, 0.0), task)
    assert (policy.act(np.zeros((3, 3), np.float32)) == 0).all()
    with pytest.raises(CrisptreeError, match="the policy must give 2 finite numbers"):
        policy.act(np.ones((3, 3), np.float32))


@pytest.mark.parametrize(
    ("done", "shape"),
    [
        (spaces.Discrete(3), (5,)),
        (spaces.MultiDiscrete([2, 3]), (5, 2)),
        (spaces.Box(-1, 1, (2,)), (5, 2)),
    ],
)
def test_a_random_policy_follows_its_seed(done, shape):
    task = make_task(LINE, done)
    by_chance = random_policy(task, 0)
    first = by_chance.act(np.zeros((5, 3)))
    assert first.shape == shape
    assert first.tolist() == random_policy(task, 0).act(np.zeros((5, 3))).tolist()
    assert first.tolist() != by_chance.act(np.zeros((5, 3))).tolist()
