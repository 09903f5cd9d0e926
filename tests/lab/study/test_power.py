import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from crisptree.base.errors import CrisptreeError
from crisptree.lab.study.power import Power, plan, power, power_table, write_example
from crisptree.lab.study.simulation import Assumptions
from crisptree.lab.study.summary_text import SIMULATED

NULL = Assumptions((4.0, 4.0, 4.0), (8.0, 8.0, 8.0), (0.9, 0.9, 0.9))
SHORT = replace(NULL, items=2, statements=2)


def test_without_an_effect_the_tests_come_out_at_their_level():
    found = power(NULL, 15, studies=500, alpha=0.05, seed=0)
    low, high = found.interval(found.ratings)
    assert low < 0.05 < high
    # Ranks of fifteen people take few values; Friedman's χ² stays a little below its level.
    low, high = found.interval(found.times)
    assert low < 0.05 and high > 0.035
    # A pair of three is found less often than any pair.
    assert all(share < 0.05 for share in (*found.ratings_pairs, *found.times_pairs))


def test_the_power_of_the_anova_is_that_of_the_noncentral_f():
    """With many statements rounding averages out, and ratings are normal: λ = n Σ(μ−μ̄)² / σ²."""
    assumed = Assumptions((4.4, 4.0, 3.6), (8.0,) * 3, (0.9,) * 3, (0.5, 0.6, 0.6), items=1)
    n, k, statements = 12, 3, 50
    variance = 0.6**2 + (0.6**2 + 1 / 12) / statements
    noncentrality = n * (0.4**2 + 0.4**2) / variance
    least = stats.f.ppf(0.95, k - 1, (n - 1) * (k - 1))
    expected = stats.ncf.sf(least, k - 1, (n - 1) * (k - 1), noncentrality)
    found = power(replace(assumed, statements=statements), n, studies=600, alpha=0.05, seed=1)
    low, high = found.interval(found.ratings)
    assert low - 0.01 < expected < high + 0.01
    assert 0.5 < expected < 0.95


def test_more_people_see_more():
    assumed = Assumptions((5.0, 4.8, 4.3), (8.0, 9.0, 12.0), (0.9, 0.9, 0.9))
    few, many = (power(assumed, n, studies=200, alpha=0.05, seed=0) for n in (5, 40))
    assert few.ratings < many.ratings and few.times < many.times


def test_accuracy_is_found_where_it_differs():
    assumed = Assumptions((4.0, 4.0, 4.0), (8.0, 8.0, 8.0), (0.95, 0.9, 0.5))
    assert power(replace(assumed, statements=2), 20, studies=50, alpha=0.05, seed=0).accuracy > 0.9
    assert power(SHORT, 20, studies=50, alpha=0.05, seed=0).accuracy < 0.2


def test_one_seed_one_result_and_plain_numbers():
    one, two = (power(SHORT, 5, studies=20, alpha=0.05, seed=3) for _ in range(2))
    assert one == two
    assert one.to_dict()["people"] == 5 and isinstance(one.to_dict()["ratings"], float)
    assert len(one.ratings_pairs) == len(one.times_pairs) == 3


def test_nothing_to_test_finds_nothing():
    none = (0.0, 0.0, 0.0)
    same = Assumptions((7.0, 7.0), (8.0, 8.0), (1.0, 1.0), none, none)
    found = power(same, 4, studies=5, alpha=0.05, seed=0)
    assert found.ratings == found.times == 0 and np.isfinite(found.times_pairs).all()


def test_alpha_matters():
    strict, lax = (power(SHORT, 8, studies=100, alpha=a, seed=0) for a in (0.01, 0.2))
    assert strict.ratings < lax.ratings
    assert lax.interval(0.5) == pytest.approx((0.40, 0.60), abs=0.01)


ASSUMED = Assumptions((5.5, 5.3, 4.2), (8.0, 9.0, 15.0), (0.95, 0.95, 0.85))


def test_the_table_by_heart():
    found = [
        Power(8, 0.5, 0.41, (0.1, 0.2, 0.3), (0.0, 0.05, 1.0), 0.07, 2000),
        Power(15, 0.955, 1.0, (0.1, 0.2, 0.3), (0.0, 0.05, 1.0), 0.2, 2000),
    ]
    assert power_table(found, 0.05) == (
        "Studies in which a test would come out at 0.05, under your assumptions:\n"
        "\n"
        "        ratings                 times                  accuracy\n"
        "people      all  1–2  1–3  2–3    all  1–2  1–3   2–3       all\n"
        "     8      50%  10%  20%  30%    41%   0%   5%  100%        7%\n"
        "    15      96%  10%  20%  30%   100%   0%   5%  100%       20%\n"
        "\n"
        "all: repeated-measures ANOVA (ratings), Friedman's test (times, accuracy). Pairs of\n"
        "policies, in the order given: Tukey's test (ratings), Dunn's with Holm's (times).\n"
        "2,000 simulated studies each; 80% stands for 78% … 82%."
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"people": (2,)}, "needs 3 … 1000 people"),
        ({"people": ()}, "needs 3 … 1000 people"),
        ({"studies": 0}, "cannot be simulated"),
        ({"alpha": 1.0}, "between 0 and 1"),
        ({"seed": -1}, "seed -1; alpha must"),
    ],
)
def test_impossible_plans_are_refused(changes, message):
    options = {"people": (5,), "studies": 5, "alpha": 0.05, "seed": 0}
    with pytest.raises(CrisptreeError, match=message):
        plan(ASSUMED, **(options | changes))


def test_each_number_of_people_is_tried():
    found = plan(ASSUMED, (4, 6), studies=10, alpha=0.05, seed=0)
    assert [each.people for each in found] == [4, 6]


def test_an_example_says_that_it_is_simulated(tmp_path):
    write_example(ASSUMED, 15, 0, tmp_path / "example")
    names = {at.name for at in (tmp_path / "example").iterdir()}
    assert names == {"report.md", "report.json", "figure.svg", "figure.png"}
    report = (tmp_path / "example" / "report.md").read_text()
    assert SIMULATED in report and "15 simulated people" in report
    assert "SIMULATED" in (tmp_path / "example" / "figure.svg").read_text()
    assert json.loads((tmp_path / "example" / "report.json").read_text())["measured"]["simulated"]
