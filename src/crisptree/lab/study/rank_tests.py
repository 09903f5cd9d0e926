"""Tests on ranks: Friedman's over all policies, and Dunn's and Nemenyi's for every pair."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from scipy import stats

from crisptree.lab.study.repeated_measures import Measures


@dataclass(frozen=True)
class Friedman:
    q: float
    df: int
    p: float
    kendalls_w: float
    """How far people agree on the order of the conditions, 0 … 1: Q / (n(k−1))."""


@dataclass(frozen=True)
class RankPair:
    """Two conditions compared by ranks, `first` minus `second`."""

    first: int
    second: int
    z: float
    p: float
    p_holm: float
    """Adjusted for all pairs (Holm)."""
    p_nemenyi: float
    """By Nemenyi's test on ranks within people, which belongs to Friedman's."""
    rank_biserial: float
    """Matched pairs, −1 … 1: how much of the ranked differences favours `first` being larger."""


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


def dunn(x: Measures) -> list[RankPair]:
    """Every pair by ranks: Dunn's test as in the paper, with Holm's and Nemenyi's p."""
    pairs = list(combinations(range(x.shape[1]), 2))
    z = dunn_z(x)
    p = 2 * stats.norm.sf(np.abs(z))
    adjusted = holm(p)
    return [
        RankPair(
            first=i,
            second=j,
            z=float(z[at]),
            p=float(p[at]),
            p_holm=float(adjusted[at]),
            p_nemenyi=_nemenyi_p(x, i, j),
            rank_biserial=rank_biserial(x[:, i] - x[:, j]),
        )
        for at, (i, j) in enumerate(pairs)
    ]


def dunn_z(x: Measures) -> Float[np.ndarray, " pairs"]:
    """Dunn's z (1964) on ranks pooled over people and conditions, which the paper's figures fit.

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


def _nemenyi_p(x: Measures, i: int, j: int) -> float:
    n, k = x.shape
    means = stats.rankdata(x, axis=1).mean(axis=0)
    q = abs(means[i] - means[j]) / np.sqrt(k * (k + 1) / (12 * n))
    return float(stats.studentized_range.sf(q, k, np.inf))
