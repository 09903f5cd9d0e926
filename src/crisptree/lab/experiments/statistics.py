"""Statistics over few runs, after Agarwal et al. 2021, "Deep reinforcement learning at the edge of
the statistical precipice".

A score is one run's mean return. Strata are tasks: the bootstrap draws runs anew within each.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.stats import trim_mean

RESAMPLES = 2000
LEVEL = 0.95

Strata = Sequence[Float[np.ndarray, "*resamples _"]]
"""Scores of runs, one array a task; statistics are taken over the last axis."""


class Mean(NamedTuple):
    mean: float
    error: float | None
    """Standard error, sd / √n with n - 1 in the sd; None for a single score."""


class Interval(NamedTuple):
    estimate: float
    low: float
    high: float


def mean_and_error(scores: Sequence[float]) -> Mean:
    values = np.asarray(scores, float)
    if len(values) < 2:
        return Mean(float(values.mean()), None)
    return Mean(float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))))


def interquartile_mean(strata: Strata) -> np.ndarray:
    """The mean of the middle half of all scores: a quarter is cut off at either end."""
    return np.asarray(trim_mean(np.concatenate(strata, axis=-1), 0.25, axis=-1))


def probability_of_improvement(ours: Strata, theirs: Strata) -> np.ndarray:
    """P(X > Y) + P(X = Y)/2 over all pairs of runs: Mann and Whitney's U over nm, mean of tasks."""
    chances = []
    for x, y in zip(ours, theirs, strict=True):
        x, y = x[..., :, None], y[..., None, :]
        chances.append(np.mean((x > y) + 0.5 * (x == y), axis=(-2, -1)))
    return np.asarray(np.mean(chances, axis=0))


def bootstrap(statistic: Callable[..., np.ndarray], *samples: Strata, seed: int = 0) -> Interval:
    """The statistic with its 95 % percentile interval under the stratified bootstrap."""
    draw = np.random.default_rng(seed)
    drawn = [[draw.choice(s, (RESAMPLES, len(s))) for s in sample] for sample in samples]
    low, high = np.quantile(statistic(*drawn), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(statistic(*samples)), float(low), float(high))
