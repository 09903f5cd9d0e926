"""Repeated-measures analysis of variance: does the aid make a difference within people?

With n people and k aids, the paper's F has (k−1, (n−1)(k−1)) degrees of freedom: F(2, 28) for
fifteen people and three aids (§7).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import optimize, special, stats

Measures = Float[np.ndarray, "people aids"]


@dataclass(frozen=True)
class RepeatedMeasuresAnova:
    """All of it NaN where people do not differ in how they take the aids at all."""

    f: float
    df_aids: int
    df_error: int
    p: float
    ms_error: float
    """The mean square of the error term: what the post-hoc test divides by."""
    partial_eta_squared: float
    """SS_aids / (SS_aids + SS_error)."""
    partial_eta_squared_90: tuple[float, float]
    """Its 90 % interval, by the noncentral F distribution. (90 because F is one-sided.)"""
    generalised_eta_squared: float
    """SS_aids / SS_total: comparable with studies in which each person sees one aid."""
    epsilon_greenhouse_geisser: float
    epsilon_huynh_feldt: float
    p_greenhouse_geisser: float
    p_huynh_feldt: float
    mauchly_w: float
    mauchly_p: float
    """Sphericity; NaN for two aids, where it always holds, and for fewer people than aids."""


def repeated_measures_anova(x: Measures) -> RepeatedMeasuresAnova:
    """F = [SS_aids / (k−1)] / [SS_error / ((n−1)(k−1))], SS_error without what people differ in."""
    n, k = x.shape
    df_aids, df_error = k - 1, (n - 1) * (k - 1)
    ss_aids, ss_error, ss_total = sums_of_squares(x)
    f = f_ratio(x)
    if np.isnan(f):
        return _undefined(df_aids, df_error)
    gg, hf = sphericity_epsilons(x)
    w, mauchly_p = mauchly(x)
    return RepeatedMeasuresAnova(
        f=f,
        df_aids=df_aids,
        df_error=df_error,
        p=_f_tail(f, df_aids, df_error, 1.0),
        ms_error=ss_error / df_error,
        partial_eta_squared=ss_aids / (ss_aids + ss_error),
        partial_eta_squared_90=eta_squared_interval(f, df_aids, df_error, 0.90),
        generalised_eta_squared=ss_aids / ss_total,
        epsilon_greenhouse_geisser=gg,
        epsilon_huynh_feldt=hf,
        p_greenhouse_geisser=_f_tail(f, df_aids, df_error, gg),
        p_huynh_feldt=_f_tail(f, df_aids, df_error, hf),
        mauchly_w=w,
        mauchly_p=mauchly_p,
    )


def f_ratio(x: Measures) -> float:
    """F alone; NaN where nothing is left for the error."""
    n, k = x.shape
    ss_aids, ss_error, ss_total = sums_of_squares(x)
    if n < 2 or ss_error <= 1e-12 * ss_total or is_rounding(ss_error, x):
        return np.nan
    return (ss_aids / (k - 1)) / (ss_error / ((n - 1) * (k - 1)))


def sums_of_squares(x: Measures) -> tuple[float, float, float]:
    """Of the aids, of the error, and in all."""
    grand = x.mean()
    ss_aids = x.shape[0] * float(np.square(x.mean(axis=0) - grand).sum())
    return ss_aids, float(np.square(residuals(x)).sum()), float(np.square(x - grand).sum())


def is_rounding(sum_of_squares: float, x: Measures) -> bool:
    """Whether a sum of squares is only what rounding leaves of nought, for numbers as large as
    these: fifteen people who all rate 4.2 would otherwise have an F."""
    return sum_of_squares <= 1e-24 * float(np.square(x).sum())


def residuals(x: Measures) -> Float[np.ndarray, "people aids"]:
    """What neither the person nor the aid accounts for."""
    return x - x.mean(axis=1, keepdims=True) - x.mean(axis=0, keepdims=True) + x.mean()


def sphericity_epsilons(x: Measures) -> tuple[float, float]:
    """Greenhouse & Geisser's and Huynh & Feldt's ε.

    ε_GG = tr(S̃)² / ((k−1) ΣS̃²), S̃ the doubly centred covariance of the aids;
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

    p by Box's approximation to the second order, as R's `mauchly.test` has it.
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


def eta_squared_interval(
    f: float, df_aids: int, df_error: int, level: float
) -> tuple[float, float]:
    """The partial η² = λ / (λ + df_aids + df_error + 1) of the noncentralities λ for which the
    observed F lies at the upper and at the lower edge."""

    def noncentrality(tail: float) -> float:
        def excess(lam: float) -> float:
            return float(stats.ncf.cdf(f, df_aids, df_error, lam)) - tail

        if excess(0.0) <= 0:
            return 0.0
        high = 1.0
        while excess(high) > 0:
            high *= 2
        return float(optimize.brentq(excess, 0.0, high))  # pyright: ignore[reportArgumentType]

    edges = (noncentrality((1 + level) / 2), noncentrality((1 - level) / 2))
    low, high = (lam / (lam + df_aids + df_error + 1) for lam in edges)
    return low, high


def _contrast_variances(x: Measures) -> Float[np.ndarray, " contrasts"]:
    """The eigenvalues of the covariance of k−1 orthonormal contrasts between the aids."""
    k = x.shape[1]
    centred = np.eye(k) - 1 / k
    covariance = centred @ np.atleast_2d(np.cov(x, rowvar=False)) @ centred
    return np.clip(np.linalg.eigvalsh(covariance)[1:], 0.0, None)


def _f_tail(f: float, df_aids: int, df_error: int, epsilon: float) -> float:
    return float(special.fdtrc(epsilon * df_aids, epsilon * df_error, f))


def _undefined(df_aids: int, df_error: int) -> RepeatedMeasuresAnova:
    nan = np.nan
    return RepeatedMeasuresAnova(
        nan, df_aids, df_error, nan, nan, nan, (nan, nan), nan, nan, nan, nan, nan, nan, nan
    )
