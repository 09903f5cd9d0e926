"""Which aids differ: every pair, with the tests that follow the ones over all aids."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from scipy import stats

from crisptree.lab.study.statistics.anova import Measures, is_rounding, residuals


@dataclass(frozen=True)
class TukeyPair:
    """Tukey's honestly significant difference of aid `first` minus aid `second`."""

    first: int
    second: int
    difference: float
    interval_95: tuple[float, float]
    """Simultaneous: it covers all pairs at once."""
    t: float
    p: float
    cohens_d: float
    """The difference over the root mean square of the two standard deviations."""


@dataclass(frozen=True)
class RankPair:
    """Two aids compared by ranks, `first` minus `second`."""

    first: int
    second: int
    z: float
    p: float
    p_holm: float
    """Adjusted for all pairs (Holm)."""
    p_nemenyi: float
    """Of the Nemenyi test on ranks within people, which fits Friedman's."""
    rank_biserial: float
    """Matched pairs, −1 … 1: how much of the ranked differences favours `first` being larger."""


def tukey(x: Measures) -> list[TukeyPair]:
    """Every pair of means; p from the studentised range of q = √2 |t| over k means."""
    n, k = x.shape
    df_error = (n - 1) * (k - 1)
    step = standard_error(x)
    reach = float(stats.studentized_range.ppf(0.95, k, df_error) / np.sqrt(2)) * step
    found = []
    for (i, j), t in zip(combinations(range(k), 2), tukey_t(x).tolist(), strict=True):
        difference = float(x[:, i].mean() - x[:, j].mean())
        variance = float(x[:, [i, j]].var(axis=0, ddof=1).mean())
        found.append(
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
    return found


def tukey_t(x: Measures) -> Float[np.ndarray, " pairs"]:
    """t = (m_i − m_j) / √(2 MS_error / n) with the repeated-measures error, as the paper has it."""
    means, step = x.mean(axis=0), standard_error(x)
    i, j = np.array(list(combinations(range(x.shape[1]), 2))).T
    return (means[i] - means[j]) / step if step > 0 else np.full(len(i), np.nan)


def standard_error(x: Measures) -> float:
    """Of a difference between two aids: √(2 MS_error / n)."""
    n, k = x.shape
    ss_error = float(np.square(residuals(x)).sum())
    return (
        0.0 if is_rounding(ss_error, x) else float(np.sqrt(2 * ss_error / ((n - 1) * (k - 1)) / n))
    )


def dunn(x: Measures) -> list[RankPair]:
    """Every pair by ranks: Dunn's test as in the paper, Holm's and Nemenyi's p beside it."""
    pairs = list(combinations(range(x.shape[1]), 2))
    z = dunn_z(x)
    p = 2 * stats.norm.sf(np.abs(z))
    return [
        RankPair(
            first=i,
            second=j,
            z=float(z[at]),
            p=float(p[at]),
            p_holm=float(adjusted),
            p_nemenyi=_nemenyi(x, i, j),
            rank_biserial=rank_biserial(x[:, i] - x[:, j]),
        )
        for at, ((i, j), adjusted) in enumerate(zip(pairs, holm(p), strict=True))
    ]


def dunn_z(x: Measures) -> Float[np.ndarray, " pairs"]:
    """Dunn's z (1964) on ranks pooled over people and aids, which the paper's figures fit.

    z = (R̄_i − R̄_j) / √((N(N+1)/12 − Σ(t³−t)/(12(N−1))) · 2/n), N = nk, t the sizes of ties.
    """
    n, k = x.shape
    total = x.size
    means = stats.rankdata(x.ravel()).reshape(x.shape).mean(axis=0)
    _, ties = np.unique(x, return_counts=True)
    variance = total * (total + 1) / 12 - (ties**3 - ties).sum() / (12 * (total - 1))
    i, j = np.array(list(combinations(range(k), 2))).T
    if variance <= 1e-9:
        return np.full(len(i), np.nan)
    return (means[i] - means[j]) / np.sqrt(variance * 2 / n)


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """p-values adjusted for their number, step by step (Holm 1979)."""
    order = np.argsort(p)
    factors = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return adjusted


def rank_biserial(differences: Float[np.ndarray, " people"]) -> float:
    """(Σ ranks of positive − Σ ranks of negative differences) / Σ ranks, zeros left out."""
    differences = differences[differences != 0]
    if not len(differences):
        return 0.0
    ranks = stats.rankdata(np.abs(differences))
    return float((ranks * np.sign(differences)).sum() / ranks.sum())


def _nemenyi(x: Measures, i: int, j: int) -> float:
    n, k = x.shape
    means = stats.rankdata(x, axis=1).mean(axis=0)
    q = abs(means[i] - means[j]) / np.sqrt(k * (k + 1) / (12 * n))
    return float(stats.studentized_range.sf(q, k, np.inf))
