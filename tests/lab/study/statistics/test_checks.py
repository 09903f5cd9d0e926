import warnings

import numpy as np
import pandas as pd
import pytest
from sample_tables import BUSHTUCKER, ROUNDING_TIMES, generated, long
from scipy import stats

from crisptree.lab.study.statistics import cronbachs_alpha, friedman, levene, shapiro_wilk
from crisptree.lab.study.statistics.anova import residuals

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pingouin

TABLES = [BUSHTUCKER, ROUNDING_TIMES, *generated()]


def test_friedmans_published_example():
    found = friedman(ROUNDING_TIMES)
    assert (round(found.q, 3), found.df, round(found.p, 6)) == (11.143, 2, 0.003805)


@pytest.mark.parametrize("x", TABLES, ids=lambda x: x.shape)
def test_friedman_as_pingouin_has_it(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pingouin.friedman(long(x), dv="value", within="aid", subject="person").iloc[0]
    mine = friedman(x)
    assert mine.q == pytest.approx(theirs["Q"], rel=1e-9)
    assert mine.p == pytest.approx(theirs["p_unc"], rel=1e-9)
    assert mine.kendalls_w == pytest.approx(theirs["W"], rel=1e-9)


def test_everybody_in_the_same_order_is_the_most_friedman_can_say():
    """Fifteen people who all agree: Q = 30. The paper's 26 is close to that."""
    x = np.tile([1.0, 2.0, 3.0], (15, 1))
    assert friedman(x).q == pytest.approx(30) and friedman(x).kendalls_w == pytest.approx(1)


def test_shapiro_and_levene_are_on_residuals_and_medians():
    x = generated()[0]
    assert shapiro_wilk(x)[1] == pytest.approx(stats.shapiro(residuals(x).ravel()).pvalue)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pingouin.homoscedasticity(long(x), dv="value", group="aid", method="levene")
    assert levene(x)[1] == pytest.approx(theirs["pval"].item(), rel=1e-9)


def test_cronbachs_alpha_as_pingouin_has_it():
    rng = np.random.default_rng(0)
    ratings = np.clip(np.round(4 + rng.normal(size=(45, 1)) + rng.normal(size=(45, 5))), 1, 7)
    theirs, _ = pingouin.cronbach_alpha(pd.DataFrame(ratings))
    assert cronbachs_alpha(ratings) == pytest.approx(theirs, rel=1e-9)


def test_undefined_where_nothing_varies():
    same = np.full((5, 3), 4.0)
    assert np.isnan(friedman(same).p)
    assert np.isnan(shapiro_wilk(same)[1]) and np.isnan(levene(same)[1])
    assert np.isnan(cronbachs_alpha(np.full((6, 5), 4.0)))
    assert np.isnan(cronbachs_alpha(np.ones((6, 1))))
    assert np.isnan(shapiro_wilk(BUSHTUCKER[:2])[1]) and np.isnan(levene(BUSHTUCKER[:2])[1])
