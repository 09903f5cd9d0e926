import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.learn.config import Learning


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_steps": 100, "minibatches": 8}, r"minibatches \(8\) must divide n_steps \(100\)"),
        ({"n_envs": 0}, "n_envs must be at least 1, not 0"),
        ({"n_steps": 0}, "n_steps must be at least 1, not 0"),
        ({"epochs": 0}, "epochs must be at least 1, not 0"),
        ({"minibatches": 0}, "minibatches must be at least 1, not 0"),
        ({"minibatches": -8}, "minibatches must be at least 1, not -8"),
        ({"gamma": 0.0}, "gamma must be above 0 and at most 1, not 0.0"),
        ({"gamma": 1.01}, "gamma must be above 0 and at most 1, not 1.01"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0, not 0.0"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(CrisptreeError, match=message):
        Learning(**settings)


def test_steps_of_an_update():
    assert Learning(n_envs=3, n_steps=16).steps_per_update == 48
