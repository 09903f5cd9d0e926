import numpy as np
import pytest
from made_records import CARTPOLE, LANDER

from crisptree.envs.task import task_of
from crisptree.lab.experiments import scripts
from crisptree.lab.experiments.domain import load_domain
from crisptree.lab.experiments.run_cell import reported_returns
from crisptree.lab.experiments.scripts import gymnasium_lander, nearest_fire, push_to_the_fall


def test_the_pole_is_pushed_to_where_it_falls():
    task = task_of(CARTPOLE.env)
    policy = push_to_the_fall(task, 0)
    states = np.array([[0, 0, 0.1, 0], [0, 0, 0.1, -0.2]], np.float32)
    assert policy.act(states).tolist() == [1, 0]
    assert np.mean(reported_returns(policy, task, 0, 5)) > 300


def test_the_landers_controller_lands():
    task = task_of(LANDER.env)
    assert np.mean(reported_returns(gymnasium_lander(task, 0), task, 0, 4)) > 100


@pytest.mark.parametrize(
    ("name", "earns"),
    [("pendulum", -300), ("mountaincar-continuous", 98), ("lunarlander-continuous", 100)],
)
def test_real_actions_by_hand(name, earns):
    domain = load_domain(name)
    task = task_of(domain.env)
    assert domain.script is not None
    policy = getattr(scripts, domain.script.policy)(task, 0)
    assert np.mean(reported_returns(policy, task, 0, 4)) > earns


def test_scripts_of_teams_play_alike_for_alike_seeds():
    task = task_of(load_domain("wildfire").env)
    returns = [reported_returns(nearest_fire(task, 0), task, 0, 3) for _ in range(2)]
    assert returns[0] == returns[1] and np.mean(returns[0]) == pytest.approx(-35, abs=10)
