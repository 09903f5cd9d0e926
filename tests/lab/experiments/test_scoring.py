from made import ENV, STUMP

from crisptree.envs.spaces import describe
from crisptree.lab.experiments.policies import scripted_policy
from crisptree.lab.experiments.scoring import reported, selected
from crisptree.score_policy import evaluate

WILDFIRE = "crisptree/Wildfire-v0"


def test_reported_returns_are_those_of_evaluate():
    assert reported(STUMP, ENV, 3, 5) == evaluate(STUMP, ENV, episodes=5, seed=3).returns


def test_selection_episodes_are_others():
    assert selected(STUMP, ENV, 0) == selected(STUMP, ENV, 0)
    assert selected(STUMP, ENV, 0) != selected(STUMP, ENV, 1)


def test_scripts_of_teams_play():
    assert len(reported(scripted_policy(describe(WILDFIRE), 0), WILDFIRE, 0, 3)) == 3
