"""Against brute force and closed forms."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from crisptree.lab.experiments import aggregate
from crisptree.lab.experiments.aggregate import (
    interquartile_mean,
    mean_and_error,
    probability_of_improvement,
)

scores = arrays(float, st.integers(2, 9), elements=st.integers(-5, 5).map(float))


@given(scores)
def test_the_standard_error_is_sd_over_root_n(values):
    mean, error = mean_and_error(values.tolist())
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(values.std(ddof=1) / np.sqrt(len(values)))


def test_one_score_has_no_error_and_no_interval():
    assert mean_and_error([3.0]) == (3.0, None)
    assert interquartile_mean(np.array([3.0])) == (3.0, None, None)
    two = np.array([1.0, 2.0])
    assert probability_of_improvement([two], [np.array([0.0])]) == (1.0, None, None)


@pytest.mark.parametrize("n", range(1, 14))
def test_the_interquartile_mean_cuts_a_quarter_off_either_end(n):
    values = np.random.default_rng(n).normal(size=n)
    cut = n // 4
    by_hand = np.sort(values)[cut : n - cut].mean()
    assert interquartile_mean(values).estimate == pytest.approx(by_hand)


def test_the_interquartile_mean_is_of_all_tasks_together():
    a, b = np.array([0.0, 0.0, 10.0]), np.array([1.0, 2.0, 3.0, 4.0, 100.0])
    assert interquartile_mean(a, b).estimate == pytest.approx(np.mean([1.0, 2.0, 3.0, 4.0]))


@given(scores, scores)
def test_the_probability_of_improvement_is_mann_and_whitneys_u(x, y):
    brute = np.mean([1.0 if a > b else 0.5 if a == b else 0.0 for a, b in itertools.product(x, y)])
    found, low, high = probability_of_improvement([x], [y])
    assert low is not None and high is not None and low <= found <= high
    assert found == pytest.approx(brute)
    if np.ptp([*x, *y]):
        u = stats.mannwhitneyu(x, y, method="asymptotic").statistic
        assert found == pytest.approx(u / (len(x) * len(y)))
    assert found + probability_of_improvement([y], [x]).estimate == pytest.approx(1.0)


def test_the_probability_of_improvement_is_the_mean_of_tasks():
    one, zero = np.array([1.0, 1.0]), np.array([0.0, 0.0, 0.0])
    assert probability_of_improvement([one, zero], [zero, one]) == (0.5, 0.5, 0.5)


def test_the_interval_is_near_the_closed_form(monkeypatch):
    """The bootstrap of a symmetric sample's middle is nearly normal around it."""
    monkeypatch.setattr(aggregate, "RESAMPLES", 8000)
    values = np.random.default_rng(0).normal(size=400)
    estimate, low, high = interquartile_mean(values)
    # The asymptotic variance of the 25 % trimmed mean of a normal sample is 1.195 / n.
    assert low is not None and high is not None
    reach = 1.96 * np.sqrt(1.195 / len(values))
    assert high - estimate == pytest.approx(reach, rel=0.15)
    assert estimate - low == pytest.approx(reach, rel=0.15)


def test_runs_are_drawn_within_tasks():
    """Within constant tasks nothing varies; were tasks mixed, their scores would."""
    assert interquartile_mean(np.zeros(4), np.ones(4)) == (0.5, 0.5, 0.5)


def test_both_samples_are_drawn():
    x, y = np.array([0.0, 2.0]), np.array([1.0, 1.0])
    assert probability_of_improvement([x], [y]) == (0.5, 0.0, 1.0)


def test_same_scores_same_interval():
    assert interquartile_mean(np.arange(5.0)) == interquartile_mean(np.arange(5.0))
