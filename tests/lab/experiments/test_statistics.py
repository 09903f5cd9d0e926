"""Against scipy's own, brute force, and closed forms."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from crisptree.lab.experiments import statistics
from crisptree.lab.experiments.statistics import (
    bootstrap,
    interquartile_mean,
    mean_and_error,
    probability_of_improvement,
)

scores = arrays(float, st.integers(2, 12), elements=st.integers(-5, 5).map(float))


@given(scores)
def test_the_standard_error_is_scipys(values):
    mean, error = mean_and_error(values.tolist())
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(stats.sem(values))


def test_one_score_has_no_error():
    assert mean_and_error([3.0]) == (3.0, None)


@pytest.mark.parametrize("n", range(1, 14))
def test_the_interquartile_mean_cuts_a_quarter_off_either_end(n):
    values = np.random.default_rng(n).normal(size=n)
    cut = n // 4
    by_hand = np.sort(values)[cut : n - cut].mean()
    assert interquartile_mean([values]) == pytest.approx(by_hand)


def test_the_interquartile_mean_is_of_all_tasks_together():
    a, b = np.array([0.0, 0.0, 10.0]), np.array([1.0, 2.0, 3.0, 4.0, 100.0])
    assert interquartile_mean([a, b]) == pytest.approx(np.mean([1.0, 2.0, 3.0, 4.0]))


@given(scores, scores)
def test_the_probability_of_improvement_is_mann_and_whitneys_u(x, y):
    u = stats.mannwhitneyu(x, y, method="asymptotic").statistic if np.ptp([*x, *y]) else None
    brute = np.mean([1.0 if a > b else 0.5 if a == b else 0.0 for a, b in itertools.product(x, y)])
    found = probability_of_improvement([x], [y])
    assert found == pytest.approx(brute)
    assert u is None or found == pytest.approx(u / (len(x) * len(y)))
    assert found + probability_of_improvement([y], [x]) == pytest.approx(1.0)


def test_the_probability_of_improvement_is_the_mean_of_tasks():
    one, zero = np.array([1.0, 1.0]), np.array([0.0, 0.0, 0.0])
    assert probability_of_improvement([one, zero], [zero, one]) == 0.5


def test_the_bootstrap_finds_the_closed_form(monkeypatch):
    """The bootstrap of a mean is nearly normal with the plug-in standard error."""
    monkeypatch.setattr(statistics, "RESAMPLES", 8000)
    values = np.random.default_rng(0).normal(size=200)
    estimate, low, high = bootstrap(lambda s: np.mean(s[0], axis=-1), [values])
    reach = 1.959964 * values.std() / np.sqrt(len(values))
    assert estimate == values.mean()
    assert low == pytest.approx(values.mean() - reach, abs=0.1 * reach)
    assert high == pytest.approx(values.mean() + reach, abs=0.1 * reach)


def test_the_bootstrap_agrees_with_scipys(monkeypatch):
    monkeypatch.setattr(statistics, "RESAMPLES", 4000)
    values = np.random.default_rng(1).gamma(2.0, size=30)
    ours = bootstrap(interquartile_mean, [values])
    theirs = stats.bootstrap(
        (values,),
        lambda x: stats.trim_mean(x, 0.25),
        vectorized=False,
        n_resamples=4000,
        method="percentile",
        rng=np.random.default_rng(2),
    ).confidence_interval
    assert ours.low == pytest.approx(theirs.low, rel=0.03)
    assert ours.high == pytest.approx(theirs.high, rel=0.03)


def test_the_bootstrap_draws_within_strata():
    """Were tasks mixed, their scores would be too; within constant tasks nothing varies."""
    strata = [np.zeros(3), np.ones(3)]
    assert bootstrap(lambda s: np.mean(np.concatenate(s, axis=-1), axis=-1), strata) == (
        0.5,
        0.5,
        0.5,
    )


def test_the_bootstrap_draws_both_samples():
    x, y = np.array([0.0, 2.0]), np.array([1.0, 1.0])
    assert bootstrap(probability_of_improvement, [x], [y]) == (0.5, 0.0, 1.0)


def test_same_scores_same_interval():
    values = [np.arange(5.0)]
    assert bootstrap(interquartile_mean, values) == bootstrap(interquartile_mean, values)
