import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from sample_tables import BUSHTUCKER, ROUNDING_TIMES, generated, long
from scipy import stats

from crisptree.lab.study.statistics import dunn, tukey
from crisptree.lab.study.statistics.pairs import dunn_z, holm, rank_biserial, tukey_t

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import scikit_posthocs

TABLES = [BUSHTUCKER, ROUNDING_TIMES, *generated()]


@pytest.mark.parametrize("x", TABLES, ids=lambda x: x.shape)
def test_tukeys_t_is_that_of_the_linear_model_with_people_and_aids(x):
    table = long(x)
    people = (table["person"].to_numpy()[:, None] == np.arange(x.shape[0])).astype(float)
    aids = (table["aid"].to_numpy()[:, None] == np.arange(1, x.shape[1])).astype(float)
    model = sm.OLS(table["value"].to_numpy(), np.hstack([people, aids])).fit()
    n, k = x.shape
    for pair in tukey(x):
        contrast = np.zeros(n + k - 1)
        for aid, sign in ((pair.first, 1), (pair.second, -1)):
            if aid:
                contrast[n + aid - 1] = sign
        theirs = model.t_test(contrast)
        assert pair.t == pytest.approx(theirs.tvalue.item(), rel=1e-6)
        assert pair.difference == pytest.approx(theirs.effect.item(), rel=1e-6)


def test_with_two_aids_tukey_is_the_paired_t_test():
    x = generated()[1]
    (pair,) = tukey(x)
    t, p = stats.ttest_rel(x[:, 0], x[:, 1])
    assert pair.t == pytest.approx(t) and pair.p == pytest.approx(p, abs=1e-6)
    low, high = stats.ttest_rel(x[:, 0], x[:, 1]).confidence_interval(0.95)
    assert pair.interval_95 == pytest.approx((low, high), rel=1e-4)


def test_an_interval_excludes_zero_where_p_is_small():
    for x in (BUSHTUCKER, ROUNDING_TIMES):
        for pair in tukey(x):
            low, high = pair.interval_95
            assert (low > 0 or high < 0) == (pair.p < 0.05)


def test_the_papers_t_values_have_its_p_values():
    """t = 6.02 and 4.24 on 28 degrees of freedom, three aids: both p < .0001 or nearly."""
    for t in (6.02, 4.24):
        assert stats.studentized_range.sf(np.sqrt(2) * t, 3, 28) < 0.001


@pytest.mark.parametrize("x", TABLES, ids=lambda x: x.shape)
def test_dunn_and_nemenyi_as_scikit_posthocs_has_them(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = scikit_posthocs.posthoc_dunn(long(x), "value", "aid").to_numpy()
        adjusted = scikit_posthocs.posthoc_dunn(long(x), "value", "aid", p_adjust="holm").to_numpy()
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
    """Even where the mean of equal numbers is not exactly that number."""
    same = np.full((7, 3), value)
    assert np.isnan(tukey_t(same)).all() and np.isnan(dunn_z(same)).all()
    assert all(np.isnan(pair.cohens_d) and np.isnan(pair.p) for pair in tukey(same))
