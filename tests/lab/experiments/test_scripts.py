import numpy as np
import pytest
from crisptree.lab.experiments.policies import SCRIPTS, random_policy, scripted_policy
from crisptree.lab.experiments.scoring import reported

from crisptree.base.errors import CrisptreeError
from crisptree.envs.spaces import describe
from crisptree.lab.experiments.domains import DOMAINS


def test_every_domain_has_a_script():
    assert {domain.env for domain in DOMAINS.values()} == set(SCRIPTS)


def test_random_actions_are_uniform_and_follow_from_the_seed():
    task = describe("CartPole-v1")
    states = np.zeros((4000, 4), np.float32)
    actions = random_policy(task, 0).predict(states)[0]
    assert abs(actions.mean() - 0.5) < 0.03
    assert (actions == random_policy(task, 0).predict(states)[0]).all()
    assert (actions != random_policy(task, 1).predict(states)[0]).any()


def test_the_pole_is_pushed_to_where_it_falls():
    policy = scripted_policy(describe("CartPole-v1"), 0)
    states = np.array([[0, 0, 0.1, 0], [0, 0, 0.1, -0.2]], np.float32)
    assert policy.predict(states)[0].tolist() == [1, 0]
    assert np.mean(reported(policy, "CartPole-v1", 0, 5)) > 300


def test_the_landers_controller_lands():
    policy = scripted_policy(describe("LunarLander-v3"), 0)
    assert np.mean(reported(policy, "LunarLander-v3", 0, 4)) > 100


def test_no_script_is_said_so():
    with pytest.raises(CrisptreeError, match="no script for Acrobot-v1"):
        scripted_policy(describe("Acrobot-v1"), 0)
