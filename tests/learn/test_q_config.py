import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.learn.q_config import QLearning


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_envs": 0}, "n_envs must be at least 1, not 0"),
        ({"rounds": 0}, "rounds must be at least 1, not 0"),
        ({"batch": 0}, "batch must be at least 1, not 0"),
        ({"sync_every": 0}, "sync_every must be at least 1, not 0"),
        ({"gamma": 0.0}, "gamma must be above 0 and at most 1, not 0.0"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0, not 0.0"),
        ({"epsilon": 0.1, "epsilon_end": 0.2}, "not from 0.1 to 0.2"),
        ({"epsilon": 1.5}, "not from 1.5 to 0.05"),
        ({"epsilon_end": 1.0}, "below 1: not from 1.0 to 1.0"),
        ({"explore_until": 0.0}, "explore_until must be above 0 and at most 1, not 0.0"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(CrisptreeError, match=message):
        QLearning(**settings)


def test_steps_of_an_update():
    assert QLearning(n_envs=3, n_steps=2, rounds=10).steps_per_update == 60
