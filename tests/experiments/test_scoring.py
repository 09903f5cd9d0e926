import numpy as np
import pytest
from made import ENV, STUMP

from crisptree.crisp import CrispTree
from crisptree.envs.score import play
from crisptree.envs.seeds import episode_seeds
from crisptree.envs.spaces import describe
from crisptree.experiments.policies import scripted_policy
from crisptree.experiments.scoring import is_team, play_team, reported, selected
from crisptree.score_policy import evaluate

WILDFIRE = "crisptree/Wildfire-v0"


def test_reported_returns_are_those_of_evaluate():
    assert reported(STUMP, ENV, 3, 5) == evaluate(STUMP, ENV, episodes=5, seed=3).returns


def test_selection_episodes_are_others():
    assert selected(STUMP, ENV, 0) == selected(STUMP, ENV, 0)
    assert selected(STUMP, ENV, 0) != selected(STUMP, ENV, 1)


def test_teams_played_together_earn_what_they_earn_one_by_one():
    assert is_team(WILDFIRE) and not is_team(ENV) and not is_team("Acrobot-v1")
    task = describe(WILDFIRE)
    west = CrispTree.from_nested(
        (task.feature_names[0], 0.0, task.action_names[0], task.action_names[3]),
        task.feature_names,
        task.action_names,
        env_id=WILDFIRE,
    )
    seeds = episode_seeds("reporting", 0, 2)
    together, alone = play_team(west, WILDFIRE, seeds), play(west, WILDFIRE, seeds)
    np.testing.assert_allclose(together, alone, rtol=1e-6)


@pytest.mark.parametrize("env", [WILDFIRE])
def test_scripts_of_teams_play(env):
    assert len(reported(scripted_policy(describe(env), 0), env, 0, 3)) == 3
