import json

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from helpers import LINE, Countdown, Still, balance, make_task

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.envs.evaluate import (
    MOST_CONSTANTS,
    Baselines,
    Score,
    baseline_returns,
    constant_actions,
    digits,
    evaluate,
)
from crisptree.envs.seeds import episode_seeds
from crisptree.envs.task import task_of

TASK = task_of("CartPole-v1")
TREE = CrispTree.from_nested(
    ("pole angle", 0.0, 1, 0), TASK.feature_names, TASK.action_names, env_id="CartPole-v1"
)


def test_a_score_is_that_of_the_reporting_episodes():
    score = evaluate(TREE, episodes=5, seed=3)
    seeds = episode_seeds("reporting", 3, 5)
    assert score.episode_seeds == tuple(seeds)
    env, totals = gymnasium.make("CartPole-v1"), []
    for seed in seeds:
        observation, total, over = env.reset(seed=seed)[0], 0.0, False
        while not over:
            observation, reward, ended, cut, _ = env.step(int(TREE.predict(observation)[0]))
            total, over = total + float(reward), ended or cut
        totals.append(total)
    assert list(score.returns) == totals
    assert score.worst == {
        "return": min(totals),
        "episode": int(np.argmin(totals)),
        "seed": seeds[int(np.argmin(totals))],
    }


def test_what_a_score_says():
    score = Score("Thing-v0", 0, (0.0, 1.0, 1.0, 0.0), (7, 8, 9, 10))
    assert (score.mean, score.quantiles["0.5"]) == (0.5, 0.5)
    about = json.loads(json.dumps(score.to_dict()))
    assert about["standard_error"] == pytest.approx(0.2887, abs=1e-4)
    assert about["worst"] == {"return": 0.0, "episode": 0, "seed": 7}
    assert str(score) == (
        "Thing-v0: return 0.50 ± 0.29 over 4 unseen episodes "
        "(worst 0.00, 5% below 0.00, median 0.50, best 1.00)"
    )
    assert "2 did not end" in str(Score("Thing-v0", 0, (1.0,), cut=2))


@pytest.mark.parametrize(
    ("values", "error", "shown"),
    [
        ([0.7, 0.8], 0.013, "0.767"),
        ([200.0, 300.0], 2.34, "0.8"),
        ([0.0, 1000000.0], 1234.0, "1"),
        ([1.0, 3.0], None, "1"),
        ([0.001, 0.002], None, "0.76689"),
        ([], None, "1"),
    ],
)
def test_decimals_fit_the_scale(values, error, shown):
    assert digits(values, error)(0.76689) == shown


def test_a_function_or_a_model_is_scored_too():
    assert evaluate(balance, "CartPole-v1", episodes=3).mean == 500
    assert evaluate(TREE, Countdown_like(), episodes=2).mean == 5


def Countdown_like():  # noqa: N802
    return lambda: Still(spaces.Box(-1, 1, (4,), np.float32))


@pytest.mark.parametrize(
    ("env", "what"),
    [
        ("MountainCar-v0", "the policy has 4 features, 'MountainCar-v0' has 2"),
        (lambda: Still(spaces.Box(-1, 1, (4,)), spaces.Discrete(3)), "the policy has 2 actions"),
    ],
)
def test_a_policy_must_fit(env, what):
    with pytest.raises(CrisptreeError, match=what):
        evaluate(TREE, env)


def test_arguments_of_the_environment():
    tree = CrispTree.from_nested(("pole angle", 0.0, 1, 0), TASK.feature_names, TASK.action_names)
    short = evaluate(tree, "CartPole-v1", env_kwargs={"max_episode_steps": 7}, episodes=4)
    assert short.returns == (7.0,) * 4
    with pytest.raises(CrisptreeError, match="does not name its environment"):
        evaluate(tree)
    with pytest.raises(CrisptreeError, match="at least 1"):
        evaluate(TREE, episodes=0)


def test_baselines_of_countdown():
    """The rewards are the actions: 2 (which the environment calls 1) earns 5, random play 0."""
    found = baseline_returns(task_of(Countdown), 0)
    assert (found.constant_return, found.constant_action, found.episodes) == (5.0, 2, 64)
    assert found.random_return is not None and abs(found.random_return) < 0.8
    assert found == baseline_returns(task_of(Countdown), 0)
    assert baseline_returns(task_of(Countdown), 0, seconds=0.0) == Baselines(None, None, None, 0)


def test_constants_to_try():
    many = constant_actions(make_task(LINE, spaces.Discrete(100)), 0)
    assert len(many) == MOST_CONSTANTS
    few = constant_actions(make_task(LINE, spaces.MultiDiscrete([2, 3])), 0)
    assert len(few) == 6
    parts = constant_actions(make_task(LINE, spaces.MultiDiscrete([9, 9])), 0)
    assert (len(parts), parts[1].tolist()) == (MOST_CONSTANTS, [8, 8])
    real = constant_actions(make_task(LINE, spaces.Box(-1, 3, (2,))), 0)
    assert [row.tolist() for row in real[:4]] == [[1, 1], [-1, -1], [3, 3], [0, 0]]


def test_the_largest_returns_have_a_spread():
    score = Score("Thing-v0", 0, (3e38, -3e38, 0.0))
    assert score.standard_error == pytest.approx(3e38 / np.sqrt(3))
    assert "Infinity" not in json.dumps(score.to_dict())
    assert Score("Thing-v0", 0, (0.0, 0.0)).standard_error == 0


def test_no_zero_has_a_minus():
    write = digits([-0.3, -1500.0])
    assert [write(-0.3), write(-1500.0)] == ["0", "-1500"]
