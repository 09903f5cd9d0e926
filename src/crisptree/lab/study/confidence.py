"""Means and shares with their 95 % intervals, and Cronbach's alpha."""

import numpy as np
from jaxtyping import Float
from scipy import stats

from crisptree.lab.study.repeated_measures import Measures

Interval = tuple[float, float]
LEVEL = 0.95


def mean_interval(values: Float[np.ndarray, " people"]) -> Interval:
    """Student's interval over people; NaN for one person."""
    n = len(values)
    if n < 2:
        return np.nan, np.nan
    reach = _t(n) * float(values.std(ddof=1)) / np.sqrt(n)
    return float(values.mean() - reach), float(values.mean() + reach)


def within_person_intervals(x: Measures) -> list[Interval]:
    """Intervals for comparing conditions by eye: the differences between people are taken out
    (Cousineau 2005), and the rest is scaled by k/(k−1) (Morey 2008)."""
    n, k = x.shape
    if n < 2:
        return [(np.nan, np.nan)] * k
    centred = x - x.mean(axis=1, keepdims=True) + x.mean()
    reach = _t(n) * np.sqrt(centred.var(axis=0, ddof=1) * k / (k - 1) / n)
    means = x.mean(axis=0)
    return list(zip((means - reach).tolist(), (means + reach).tolist(), strict=True))


def ratio_interval(
    first: Float[np.ndarray, " people"], second: Float[np.ndarray, " people"]
) -> tuple[float, float, float]:
    """How many times as long `first` takes as `second`: the geometric mean over people, and
    Student's interval of its logarithm."""
    logs = np.log(first / second)
    low, high = mean_interval(logs)
    return float(np.exp(logs.mean())), float(np.exp(low)), float(np.exp(high))


def share_interval(share: float, n: int) -> Interval:
    """Wilson's interval for a share seen in `n` independent cases."""
    z = float(stats.norm.ppf((1 + LEVEL) / 2))
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, float(middle - reach)), min(1.0, float(middle + reach))


def cronbachs_alpha(ratings: Float[np.ndarray, "rated statements"]) -> float:
    """Cronbach's alpha, how far the statements measure one thing: k/(k−1) · (1 − Σ var_i /
    var(sum))."""
    k = ratings.shape[1]
    if k < 2 or len(ratings) < 2:
        return np.nan
    total = float(ratings.sum(axis=1).var(ddof=1))
    if total == 0:
        return np.nan
    return float(k / (k - 1) * (1 - ratings.var(axis=0, ddof=1).sum() / total))


def _t(n: int) -> float:
    return float(stats.t.ppf((1 + LEVEL) / 2, n - 1))
