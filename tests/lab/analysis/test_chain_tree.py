import numpy as np
from scipy.special import expit

from crisptree.lab.analysis.chain_setting import PAPER, Setting
from crisptree.lab.analysis.chain_tree import doubt, goes_true, main_text_leaves, moves_right, slope

PHI = np.linspace(-3, 8, 221)
SETTING = Setting(n=6, istar=3, alpha=7.0, leaf_probability=0.9)


def test_goes_true_is_the_sigmoid():
    expected = expit(7.0 * (np.arange(1, 7)[:, None] - PHI))
    np.testing.assert_allclose(goes_true(SETTING, PHI), expected, rtol=1e-13)


def test_slope_and_doubt_keep_their_digits_far_away():
    far = np.array([-40.0])
    x = 7.0 * (np.arange(1, 7)[:, None] + 40.0)
    np.testing.assert_allclose(doubt(SETTING, far), np.exp(-x), rtol=1e-12)
    np.testing.assert_allclose(slope(SETTING, far), np.exp(-x), rtol=1e-12)


def test_slope_is_the_derivative():
    step = 1e-6
    numeric = (goes_true(SETTING, PHI + step) - goes_true(SETTING, PHI - step)) / (2 * step)
    np.testing.assert_allclose(-7.0 * slope(SETTING, PHI), numeric, atol=1e-8)


def test_the_policy_favours_right_below_phi():
    right = moves_right(SETTING, np.array([3.5]))[:, 0]
    np.testing.assert_allclose(right[:2], 0.9, atol=1e-4)
    np.testing.assert_allclose(right[-2:], 0.1, atol=1e-4)


def test_main_text_leaves():
    np.testing.assert_allclose(main_text_leaves(PAPER), (20.0, 18.05))
