"""Repeated-measures ANOVA with sphericity, checks of its assumptions and Tukey's pairs.

A measure is a table of n people × k conditions, here the policies. The paper's F (§7) has (k−1,
(n−1)(k−1)) degrees of freedom: F(2, 28) for fifteen people and three policies.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float
from scipy import optimize, special, stats

Measures = Float[np.ndarray, "people conditions"]


@dataclass(frozen=True)
class RepeatedMeasuresAnova:
    """All numbers are NaN where the conditions move every person alike, so that no error is
    left."""

    f: float
    df_conditions: int
    df_error: int
    p: float
    ms_error: float
    """The mean square of the error term, which Tukey's test divides by."""
    partial_eta_squared: float
    """SS_conditions / (SS_conditions + SS_error)."""
    partial_eta_squared_90: tuple[float, float]
    """Its 90 % interval, by the noncentral F distribution. (90 because F is one-sided.)"""
    generalised_eta_squared: float
    """SS_conditions / SS_total, for comparison with studies that show each person one policy."""
    epsilon_greenhouse_geisser: float
    epsilon_huynh_feldt: float
    p_greenhouse_geisser: float
    p_huynh_feldt: float
    mauchly_w: float
    mauchly_p: float
    """Sphericity; NaN for two conditions, where it always holds, and for fewer people than
    conditions."""


@dataclass(frozen=True)
class TukeyPair:
    """Tukey's honestly significant difference, condition `first` minus condition `second`."""

    first: int
    second: int
    difference: float
    interval_95: tuple[float, float]
    """Simultaneous: it covers all pairs at once."""
    t: float
    p: float
    cohens_d: float
    """The difference over the root mean square of the two standard deviations."""


def repeated_measures_anova(x: Measures) -> RepeatedMeasuresAnova:
    """F = [SS_conditions / (k−1)] / [SS_error / ((n−1)(k−1))] and what is reported with it."""
    n, k = x.shape
    df, df_error = k - 1, (n - 1) * (k - 1)
    f, nan = f_ratio(x), np.nan
    if np.isnan(f):
        rest = (nan,) * 7
        return RepeatedMeasuresAnova(nan, df, df_error, nan, nan, nan, (nan, nan), *rest)
    ss_conditions, ss_error, ss_total = sums_of_squares(x)
    gg, hf = sphericity_epsilons(x)
    p, p_gg, p_hf = (float(special.fdtrc(e * df, e * df_error, f)) for e in (1.0, gg, hf))
    w, mauchly_p = mauchly(x)
    return RepeatedMeasuresAnova(
        f=f,
        df_conditions=df,
        df_error=df_error,
        p=p,
        ms_error=ss_error / df_error,
        partial_eta_squared=ss_conditions / (ss_conditions + ss_error),
        partial_eta_squared_90=eta_squared_interval(f, df, df_error, 0.90),
        generalised_eta_squared=ss_conditions / ss_total,
        epsilon_greenhouse_geisser=gg,
        epsilon_huynh_feldt=hf,
        p_greenhouse_geisser=p_gg,
        p_huynh_feldt=p_hf,
        mauchly_w=w,
        mauchly_p=mauchly_p,
    )


def f_ratio(x: Measures) -> float:
    """F alone; NaN if no error is left."""
    n, k = x.shape
    ss_conditions, ss_error, ss_total = sums_of_squares(x)
    if n < 2 or ss_error <= 1e-12 * ss_total or is_rounding(ss_error, x):
        return np.nan
    return (ss_conditions / (k - 1)) / (ss_error / ((n - 1) * (k - 1)))


def sums_of_squares(x: Measures) -> tuple[float, float, float]:
    """The sums of squares of the conditions, of the error, and in all."""
    grand = x.mean()
    ss_conditions = x.shape[0] * float(np.square(x.mean(axis=0) - grand).sum())
    return ss_conditions, float(np.square(residuals(x)).sum()), float(np.square(x - grand).sum())


def is_rounding(sum_of_squares: float, x: Measures) -> bool:
    """Whether a sum of squares is what rounding leaves of zero, for numbers as large as these.

    Fifteen people who all rate 4.2 would otherwise have an F.
    """
    return sum_of_squares <= 1e-24 * float(np.square(x).sum())


def residuals(x: Measures) -> Float[np.ndarray, "people conditions"]:
    """The residuals: what neither the person nor the condition explains."""
    return x - x.mean(axis=1, keepdims=True) - x.mean(axis=0, keepdims=True) + x.mean()


def sphericity_epsilons(x: Measures) -> tuple[float, float]:
    """Greenhouse & Geisser's and Huynh & Feldt's ε.

    ε_GG = tr(S̃)² / ((k−1) ΣS̃²), S̃ the doubly centred covariance of the conditions;
    ε_HF = (n(k−1)ε_GG − 2) / ((k−1)(n − 1 − (k−1)ε_GG)), at most 1.
    """
    n, k = x.shape
    roots = _contrast_variances(x)
    gg = float(roots.sum() ** 2 / ((k - 1) * np.square(roots).sum()))
    below = (k - 1) * (n - 1 - (k - 1) * gg)
    hf = (n * (k - 1) * gg - 2) / below if below > 0 else 1.0
    return gg, min(1.0, hf)


def mauchly(x: Measures) -> tuple[float, float]:
    """Mauchly's W = det(S*) / (tr(S*)/d)^d for d = k−1 orthonormal contrasts, and its p.

    p is Box's approximation to the second order, as in R's `mauchly.test`.
    """
    n, k = x.shape
    d, df = k - 1, n - 1
    if d < 2 or df < d:
        return np.nan, np.nan
    roots = _contrast_variances(x)
    if roots.min() <= 1e-12 * roots.max():
        return 0.0, np.nan
    log_w = float(np.log(roots).sum() - d * np.log(roots.mean()))
    rho = 1 - (2 * d**2 + d + 2) / (6 * d * df)
    second = (d + 2) * (d - 1) * (d - 2) * (2 * d**3 + 6 * d**2 + 3 * d + 2)
    second /= 288 * (df * d * rho) ** 2
    chi2, freedom = -df * rho * log_w, d * (d + 1) / 2 - 1
    first = float(special.chdtrc(freedom, chi2))
    return float(np.exp(log_w)), first + second * (float(special.chdtrc(freedom + 4, chi2)) - first)


def eta_squared_interval(f: float, df: int, df_error: int, level: float) -> tuple[float, float]:
    """The partial η² = λ / (λ + df + df_error + 1) of the two noncentralities λ that put the
    observed F at the upper and at the lower edge of its distribution."""

    def noncentrality(tail: float) -> float:
        def excess(lam: float) -> float:
            return float(stats.ncf.cdf(f, df, df_error, lam)) - tail

        if excess(0.0) <= 0:
            return 0.0
        high = 1.0
        while excess(high) > 0:
            high *= 2
        return float(optimize.brentq(excess, 0.0, high))  # pyright: ignore[reportArgumentType]

    edges = (noncentrality((1 + level) / 2), noncentrality((1 - level) / 2))
    low, high = (lam / (lam + df + df_error + 1) for lam in edges)
    return low, high


def tukey(x: Measures) -> list[TukeyPair]:
    """Every pair of means; p comes from the studentised range of q = √2 |t| over k means."""
    n, k = x.shape
    df_error = (n - 1) * (k - 1)
    reach = float(stats.studentized_range.ppf(0.95, k, df_error) / np.sqrt(2)) * standard_error(x)
    pairs = []
    for (i, j), t in zip(combinations(range(k), 2), tukey_t(x).tolist(), strict=True):
        difference = float(x[:, i].mean() - x[:, j].mean())
        variance = float(x[:, [i, j]].var(axis=0, ddof=1).mean())
        pairs.append(
            TukeyPair(
                first=i,
                second=j,
                difference=difference,
                interval_95=(difference - reach, difference + reach),
                t=t,
                p=float(stats.studentized_range.sf(np.sqrt(2) * abs(t), k, df_error)),
                cohens_d=np.nan if is_rounding(variance, x) else difference / np.sqrt(variance),
            )
        )
    return pairs


def tukey_t(x: Measures) -> Float[np.ndarray, " pairs"]:
    """t = (m_i − m_j) / √(2 MS_error / n) with the repeated-measures error, as in the paper."""
    means, error = x.mean(axis=0), standard_error(x)
    i, j = np.array(list(combinations(range(x.shape[1]), 2))).T
    return (means[i] - means[j]) / error if error > 0 else np.full(len(i), np.nan)


def standard_error(x: Measures) -> float:
    """The standard error of a difference between two conditions: √(2 MS_error / n)."""
    n, k = x.shape
    ss_error = sums_of_squares(x)[1]
    if is_rounding(ss_error, x):
        return 0.0
    return float(np.sqrt(2 * ss_error / ((n - 1) * (k - 1)) / n))


def shapiro_wilk_p(x: Measures) -> float:
    """The p of Shapiro & Wilk's test that the residuals are normal; NaN for fewer than three
    people or residuals that do not differ."""
    left = residuals(x).ravel()
    if x.shape[0] < 3 or np.ptp(left) <= 1e-12 * max(1.0, float(np.abs(x).max())):
        return np.nan
    return float(stats.shapiro(left).pvalue)


def levene_p(x: Measures) -> float:
    """The p of Levene's test for equal variances, by distances from the medians (Brown &
    Forsythe); NaN for fewer than three people or no variance at all."""
    if x.shape[0] < 3 or (np.ptp(x, axis=0) == 0).all():
        return np.nan
    return float(stats.levene(*x.T, center="median").pvalue)


def _contrast_variances(x: Measures) -> Float[np.ndarray, " contrasts"]:
    """The eigenvalues of the covariance of k−1 orthonormal contrasts between the conditions."""
    k = x.shape[1]
    centred = np.eye(k) - 1 / k
    covariance = centred @ np.atleast_2d(np.cov(x, rowvar=False)) @ centred
    return np.clip(np.linalg.eigvalsh(covariance)[1:], 0.0, None)
