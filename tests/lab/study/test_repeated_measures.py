import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sample_tables import BUSHTUCKER, ROUNDING_TIMES, generated, long
from scipy import stats

from crisptree.lab.study.repeated_measures import (
    eta_squared_interval,
    levene_p,
    mauchly,
    repeated_measures_anova,
    residuals,
    shapiro_wilk_p,
    sphericity_epsilons,
    tukey,
    tukey_t,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pingouin

TABLES = [BUSHTUCKER, ROUNDING_TIMES, *generated()]


def test_published_values():
    found = repeated_measures_anova(BUSHTUCKER)
    assert (found.df_conditions, found.df_error) == (3, 21)
    assert round(found.f, 2) == 3.79 and round(found.p, 3) == 0.026
    assert round(found.mauchly_w, 3) == 0.136 and round(found.mauchly_p, 3) == 0.047
    assert round(found.epsilon_greenhouse_geisser, 3) == 0.533
    assert round(found.epsilon_huynh_feldt, 3) == 0.666
    assert round(found.p_greenhouse_geisser, 3) == 0.063
    assert round(found.p_huynh_feldt, 3) == 0.048


def test_fifteen_people_and_three_aids_have_the_papers_degrees_of_freedom():
    found = repeated_measures_anova(generated()[0])
    assert (found.df_conditions, found.df_error) == (2, 28)


@pytest.mark.parametrize("x", TABLES, ids=lambda x: x.shape)
def test_as_pingouin_has_it(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options: Any = {"within": "policy", "subject": "person", "correction": True}
        theirs: Any = pingouin.rm_anova(long(x), dv="value", detailed=True, **options)
        spherical: Any = pingouin.sphericity(pd.DataFrame(x))
        huynh_feldt = pingouin.epsilon(pd.DataFrame(x), correction="hf")
    row, error = theirs.iloc[0], theirs.iloc[1]
    mine = repeated_measures_anova(x)
    assert mine.f == pytest.approx(row["F"], rel=1e-9)
    assert mine.p == pytest.approx(row["p_unc"], rel=1e-9)
    assert mine.ms_error == pytest.approx(error["MS"], rel=1e-9)
    assert mine.generalised_eta_squared == pytest.approx(row["ng2"], rel=1e-9)
    assert mine.epsilon_greenhouse_geisser == pytest.approx(row["eps"], rel=1e-9)
    assert mine.p_greenhouse_geisser == pytest.approx(row.get("p_GG_corr", row["p_unc"]), rel=1e-6)
    assert mine.epsilon_huynh_feldt == pytest.approx(huynh_feldt, rel=1e-9)
    if x.shape[1] > 2:
        assert mine.mauchly_w == pytest.approx(spherical.W, rel=1e-9)
        # For four conditions and more their second-order term differs a little from R's.
        assert mine.mauchly_p == pytest.approx(
            spherical.pval, rel=1e-9 if x.shape[1] == 3 else 0.01
        )


def test_with_two_aids_it_is_the_paired_t_test():
    x = generated()[1]
    t, p = stats.ttest_rel(x[:, 0], x[:, 1])
    found = repeated_measures_anova(x)
    assert found.f == pytest.approx(t**2) and found.p == pytest.approx(p)
    assert found.epsilon_greenhouse_geisser == pytest.approx(1)
    assert np.isnan(found.mauchly_w)


def test_what_people_differ_in_does_not_matter():
    x = generated()[0]
    shifted = x + np.linspace(-100, 100, len(x))[:, None]
    assert repeated_measures_anova(shifted).f == pytest.approx(repeated_measures_anova(x).f)


def test_partial_eta_squared_is_the_textbooks_function_of_f():
    found = repeated_measures_anova(generated()[0])
    share = found.f * 2 / (found.f * 2 + 28)
    assert found.partial_eta_squared == pytest.approx(share)
    low, high = found.partial_eta_squared_90
    assert 0 <= low < share < high < 1


def test_the_interval_of_eta_squared_puts_f_at_its_edges():
    low, high = eta_squared_interval(19.12, 2, 28, 0.90)
    for eta, tail in ((low, 0.95), (high, 0.05)):
        noncentrality = eta * 31 / (1 - eta)
        assert stats.ncf.cdf(19.12, 2, 28, noncentrality) == pytest.approx(tail, abs=1e-6)
    assert eta_squared_interval(0.1, 2, 28, 0.90)[0] == 0


@pytest.mark.parametrize(
    "x",
    [
        np.full((5, 3), 4.0),
        np.full((5, 3), 4.2),
        np.tile([1.1, 2.2, 3.3], (5, 1)),
        np.tile(np.arange(5.0)[:, None] / 10, 3),
    ],
    ids=["constant", "constant up to rounding", "all people alike", "all conditions alike"],
)
def test_without_error_there_is_no_f(x):
    found = repeated_measures_anova(x)
    assert np.isnan(found.f) and np.isnan(found.p) and found.df_error == 8


def test_fewer_people_than_aids_have_no_mauchly_test():
    x = generated()[3][:4]
    assert np.isnan(mauchly(x)[0])
    gg, hf = sphericity_epsilons(x)
    assert 1 / 4 <= gg <= 1 and hf <= 1


@pytest.mark.parametrize("x", TABLES, ids=lambda x: x.shape)
def test_tukeys_t_is_that_of_the_linear_model_with_people_and_aids(x):
    table = long(x)
    people = (table["person"].to_numpy()[:, None] == np.arange(x.shape[0])).astype(float)
    conditions = (table["policy"].to_numpy()[:, None] == np.arange(1, x.shape[1])).astype(float)
    model = sm.OLS(table["value"].to_numpy(), np.hstack([people, conditions])).fit()
    n, k = x.shape
    for pair in tukey(x):
        contrast = np.zeros(n + k - 1)
        for condition, sign in ((pair.first, 1), (pair.second, -1)):
            if condition:
                contrast[n + condition - 1] = sign
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
    """t = 6.02 and 4.24 on 28 degrees of freedom, three conditions: both p < .0001 or nearly."""
    for t in (6.02, 4.24):
        assert stats.studentized_range.sf(np.sqrt(2) * t, 3, 28) < 0.001


def test_shapiro_and_levene_are_on_residuals_and_medians():
    x = generated()[0]
    assert shapiro_wilk_p(x) == pytest.approx(stats.shapiro(residuals(x).ravel()).pvalue)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pingouin.homoscedasticity(long(x), dv="value", group="policy", method="levene")
    assert levene_p(x) == pytest.approx(theirs["pval"].item(), rel=1e-9)


def test_the_assumptions_cannot_be_tested_where_nothing_varies_or_too_few_are_there():
    for x in (np.full((5, 3), 4.0), BUSHTUCKER[:2]):
        assert np.isnan(shapiro_wilk_p(x)) and np.isnan(levene_p(x))


@pytest.mark.parametrize("value", [2.0, 4.2, 1e9 / 3])
def test_nothing_to_compare_is_undefined(value):
    """Even where the mean of equal numbers is not exactly that number."""
    same = np.full((7, 3), value)
    assert np.isnan(tukey_t(same)).all()
    assert all(np.isnan(pair.cohens_d) and np.isnan(pair.p) for pair in tukey(same))
