import numpy as np
import pytest

from crisptree.lab.analysis.setting import PAPER, Setting
from crisptree.lab.analysis.wrong_action import least_wrong, wrong_action


def test_the_least_is_at_two_and_a_half():
    place, chance = least_wrong(PAPER, -2.0, 7.0)
    assert abs(place - 2.5) < 1e-9
    mu = 1 / (1 + np.exp(5.0))
    np.testing.assert_allclose(chance, mu * 0.99 + (1 - mu) * 0.01)


@pytest.mark.parametrize(
    "setting", [PAPER, Setting(n=30, istar=12, alpha=0.3), Setting(alpha=90.0)]
)
def test_no_grid_point_is_better(setting):
    place, chance = least_wrong(setting, -2.0, setting.n + 3.0)
    grid = np.linspace(-2, setting.n + 3, 20_001)
    assert chance <= wrong_action(setting, grid).min() + 1e-12
    assert abs(place - setting.optimal_phi) < 1e-6


def test_far_away_one_state_is_always_wrong():
    np.testing.assert_allclose(wrong_action(PAPER, np.array([-50.0, 50.0])), 0.5)


def test_in_a_range_without_the_minimum_its_nearer_end_is_best():
    place, _ = least_wrong(PAPER, 3.0, 6.0)
    assert place == 3.0
