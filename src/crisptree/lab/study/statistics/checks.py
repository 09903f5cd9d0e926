"""Tests over all aids that need less than the analysis of variance, and of what it needs."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import stats

from crisptree.lab.study.statistics.anova import Measures, residuals


@dataclass(frozen=True)
class Friedman:
    q: float
    df: int
    p: float
    kendalls_w: float
    """Agreement between people on the order of the aids, 0 … 1: Q / (n(k−1))."""


def friedman(x: Measures) -> Friedman:
    """Friedman's Q on ranks within people, corrected for ties; p by χ² with k−1 degrees.

    Q = (k−1) Σ(R_j − n(k+1)/2)² / (Σr² − nk(k+1)²/4), R_j the rank sums.
    """
    n, k = x.shape
    ranks = stats.rankdata(x, axis=1)
    centre = (k + 1) / 2
    between = np.square(ranks.sum(axis=0) - n * centre).sum()
    within = np.square(ranks).sum() - n * k * centre**2
    if within <= 0:
        return Friedman(np.nan, k - 1, np.nan, np.nan)
    q = float((k - 1) * between / within)
    return Friedman(q, k - 1, float(stats.chi2.sf(q, k - 1)), q / (n * (k - 1)))


def shapiro_wilk(x: Measures) -> tuple[float, float]:
    """W and p for the residuals being normal; NaN for fewer than three numbers or none that
    differ."""
    left = residuals(x).ravel()
    if x.shape[0] < 3 or np.ptp(left) <= 1e-12 * max(1.0, float(np.abs(x).max())):
        return np.nan, np.nan
    w, p = stats.shapiro(left)
    return float(w), float(p)


def levene(x: Measures) -> tuple[float, float]:
    """W and p for the aids having equal variances, by distances from the medians (Brown &
    Forsythe); NaN for fewer than three people or no variance at all."""
    if x.shape[0] < 3 or (np.ptp(x, axis=0) == 0).all():
        return np.nan, np.nan
    w, p = stats.levene(*x.T, center="median")
    return float(w), float(p)


def cronbachs_alpha(ratings: Float[np.ndarray, "rated statements"]) -> float:
    """How far the statements measure one thing: k/(k−1) · (1 − Σ var_i / var(sum))."""
    k = ratings.shape[1]
    if k < 2 or len(ratings) < 2:
        return np.nan
    total = float(ratings.sum(axis=1).var(ddof=1))
    if total == 0:
        return np.nan
    return float(k / (k - 1) * (1 - ratings.var(axis=0, ddof=1).sum() / total))
