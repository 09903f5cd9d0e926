import warnings

import numpy as np
import pandas as pd
import pytest
from sample_tables import BUSHTUCKER
from scipy import stats

from crisptree.lab.study.confidence import (
    cronbachs_alpha,
    mean_interval,
    ratio_interval,
    share_interval,
    within_person_intervals,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pingouin


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


def test_cronbachs_alpha_as_pingouin_has_it():
    rng = np.random.default_rng(0)
    ratings = np.clip(np.round(4 + rng.normal(size=(45, 1)) + rng.normal(size=(45, 5))), 1, 7)
    theirs, _ = pingouin.cronbach_alpha(pd.DataFrame(ratings))
    assert cronbachs_alpha(ratings) == pytest.approx(theirs, rel=1e-9)


def test_alpha_is_undefined_where_nothing_varies():
    assert np.isnan(cronbachs_alpha(np.full((6, 5), 4.0)))
    assert np.isnan(cronbachs_alpha(np.ones((6, 1))))
