import numpy as np
import pytest
from sample_tables import BUSHTUCKER
from scipy import stats

from crisptree.lab.study.statistics import (
    mean_interval,
    ratio_interval,
    share_interval,
    within_person_intervals,
)


def test_mean_interval_is_that_of_the_t_test():
    values = BUSHTUCKER[:, 0]
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert mean_interval(values) == pytest.approx((low, high))
    assert np.isnan(mean_interval(np.array([1.0]))).all()


def test_within_person_intervals_forget_what_people_differ_in():
    shifted = BUSHTUCKER + np.linspace(0, 500, 8)[:, None]
    widths = [high - low for low, high in within_person_intervals(shifted)]
    assert widths == pytest.approx([h - lo for lo, h in within_person_intervals(BUSHTUCKER)])


def test_within_person_intervals_of_two_aids_are_the_paired_difference_over_root_two():
    """Morey's correction makes the half-width t · sd(difference) / √(2n)."""
    x = BUSHTUCKER[:, :2]
    reach = stats.t.ppf(0.975, 7) * (x[:, 0] - x[:, 1]).std(ddof=1) / np.sqrt(2 * 8)
    (low, high), _ = within_person_intervals(x)
    assert high - low == pytest.approx(2 * reach)


def test_wilson_as_scipy_has_it():
    for right, n in ((0, 15), (7, 15), (15, 15)):
        theirs = stats.binomtest(right, n).proportion_ci(method="wilson")
        assert share_interval(right / n, n) == pytest.approx((theirs.low, theirs.high))


def test_twice_as_long_is_a_ratio_of_two():
    first = np.array([2.0, 6.0, 11.0])
    assert ratio_interval(first, first / 2) == pytest.approx((2, 2, 2))
    ratio, low, high = ratio_interval(first, np.array([1.0, 2.0, 5.0]))
    assert low < ratio < high
