import warnings

import numpy as np
import pytest
from sample_tables import BUSHTUCKER, ROUNDING_TIMES, generated, long
from scipy import stats

from crisptree.lab.study.rank_tests import dunn, dunn_z, friedman, holm, rank_biserial

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pingouin
    import scikit_posthocs

TABLES = [BUSHTUCKER, ROUNDING_TIMES, *generated()]


def test_friedmans_published_example():
    found = friedman(ROUNDING_TIMES)
    assert (round(found.q, 3), found.df, round(found.p, 6)) == (11.143, 2, 0.003805)


@pytest.mark.parametrize("x", TABLES, ids=lambda x: x.shape)
def test_friedman_as_pingouin_has_it(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pingouin.friedman(long(x), dv="value", within="policy", subject="person").iloc[0]
    mine = friedman(x)
    assert mine.q == pytest.approx(theirs["Q"], rel=1e-9)
    assert mine.p == pytest.approx(theirs["p_unc"], rel=1e-9)
    assert mine.kendalls_w == pytest.approx(theirs["W"], rel=1e-9)


def test_everybody_in_the_same_order_is_the_most_friedman_can_say():
    """Fifteen people who all agree: Q = 30. The paper's 26 is close to that."""
    x = np.tile([1.0, 2.0, 3.0], (15, 1))
    assert friedman(x).q == pytest.approx(30) and friedman(x).kendalls_w == pytest.approx(1)


def test_undefined_where_nothing_varies():
    assert np.isnan(friedman(np.full((5, 3), 4.0)).p)


@pytest.mark.parametrize("x", TABLES, ids=lambda x: x.shape)
def test_dunn_and_nemenyi_as_scikit_posthocs_has_them(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = scikit_posthocs.posthoc_dunn(long(x), "value", "policy").to_numpy()
        adjusted = scikit_posthocs.posthoc_dunn(
            long(x), "value", "policy", p_adjust="holm"
        ).to_numpy()
        nemenyi = scikit_posthocs.posthoc_nemenyi_friedman(x).to_numpy()
    for pair in dunn(x):
        at = pair.first, pair.second
        assert pair.p == pytest.approx(plain[at], rel=1e-9)
        assert pair.p_holm == pytest.approx(adjusted[at], rel=1e-9)
        assert pair.p_nemenyi == pytest.approx(nemenyi[at], rel=1e-6)
        assert pair.p == pytest.approx(2 * stats.norm.sf(abs(pair.z)))


def test_the_papers_z_values_are_reached_by_ranks_of_45_answers():
    """Its z = −5.23 and −4.07 are whole rank sums apart, divided by √(45·46/12 · 2/15) · 15."""
    error = np.sqrt(45 * 46 / 12 * 2 / 15)
    for z in (5.23, 4.07):
        nearest = round(z * error * 15)
        assert round(nearest / 15 / error, 2) == z
    apart = np.arange(45.0).reshape(3, 15).T
    assert dunn_z(apart) == pytest.approx([-15 / error, -30 / error, -15 / error])


def test_holm_by_hand():
    assert holm(np.array([0.01, 0.04, 0.03])).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert holm(np.array([0.5, 0.9])).tolist() == [1.0, 1.0]


def test_rank_biserial_by_hand():
    assert rank_biserial(np.array([1.0, 2.0, 3.0])) == 1
    assert rank_biserial(np.array([-1.0, -2.0])) == -1
    assert rank_biserial(np.array([1.0, -2.0, 0.0])) == pytest.approx((1 - 2) / 3)
    assert rank_biserial(np.zeros(3)) == 0


@pytest.mark.parametrize("value", [2.0, 4.2, 1e9 / 3])
def test_nothing_to_compare_is_undefined(value):
    assert np.isnan(dunn_z(np.full((7, 3), value))).all()
