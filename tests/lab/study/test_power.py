import numpy as np
import pytest
from scipy import stats

from crisptree.lab.study.power import power
from crisptree.lab.study.simulate import Assumptions

NULL = Assumptions((4.0, 4.0, 4.0), (8.0, 8.0, 8.0), (0.9, 0.9, 0.9))


def test_without_an_effect_the_tests_come_out_at_their_level():
    found = power(NULL, 15, 5, 5, studies=500, alpha=0.05, seed=0)
    low, high = found.interval(found.ratings)
    assert low < 0.05 < high
    # Ranks of fifteen people take few values; Friedman's χ² stays a little below its level.
    low, high = found.interval(found.times)
    assert low < 0.05 and high > 0.035
    # A pair of three is found less often than any pair.
    assert all(share < 0.05 for share in (*found.ratings_pairs, *found.times_pairs))


def test_the_power_of_the_anova_is_that_of_the_noncentral_f():
    """With many statements rounding averages out, and ratings are normal: λ = n Σ(μ−μ̄)² / σ²."""
    assumed = Assumptions((4.4, 4.0, 3.6), (8.0, 8.0, 8.0), (0.9, 0.9, 0.9), 0.5, 0.6, 0.6)
    n, k, statements = 12, 3, 50
    variance = 0.6**2 + (0.6**2 + 1 / 12) / statements
    noncentrality = n * (0.4**2 + 0.4**2) / variance
    least = stats.f.ppf(0.95, k - 1, (n - 1) * (k - 1))
    expected = stats.ncf.sf(least, k - 1, (n - 1) * (k - 1), noncentrality)
    found = power(assumed, n, 1, statements, studies=600, alpha=0.05, seed=1)
    low, high = found.interval(found.ratings)
    assert low - 0.01 < expected < high + 0.01
    assert 0.5 < expected < 0.95


def test_more_people_see_more():
    assumed = Assumptions((5.0, 4.8, 4.3), (8.0, 9.0, 12.0), (0.9, 0.9, 0.9))
    few, many = (power(assumed, n, 5, 5, studies=200, alpha=0.05, seed=0) for n in (5, 40))
    assert few.ratings < many.ratings and few.times < many.times


def test_accuracy_is_found_where_it_differs():
    assumed = Assumptions((4.0, 4.0, 4.0), (8.0, 8.0, 8.0), (0.95, 0.9, 0.5))
    assert power(assumed, 20, 5, 2, studies=50, alpha=0.05, seed=0).accuracy > 0.9
    assert power(NULL, 20, 5, 2, studies=50, alpha=0.05, seed=0).accuracy < 0.2


def test_one_seed_one_result_and_plain_numbers():
    one, two = (power(NULL, 5, 2, 2, studies=20, alpha=0.05, seed=3) for _ in range(2))
    assert one == two
    assert one.to_dict()["people"] == 5 and isinstance(one.to_dict()["ratings"], float)
    assert len(one.ratings_pairs) == len(one.times_pairs) == 3


def test_nothing_to_test_finds_nothing():
    same = Assumptions((7.0, 7.0), (8.0, 8.0), (1.0, 1.0), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    found = power(same, 4, 2, 2, studies=5, alpha=0.05, seed=0)
    assert found.ratings == found.times == 0 and np.isfinite(found.times_pairs).all()


def test_alpha_matters():
    strict, lax = (power(NULL, 8, 2, 2, studies=100, alpha=a, seed=0) for a in (0.01, 0.2))
    assert strict.ratings < lax.ratings
    assert lax.interval(0.5) == pytest.approx((0.40, 0.60), abs=0.01)
