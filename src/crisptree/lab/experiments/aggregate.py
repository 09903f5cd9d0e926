"""Statistics over few runs, after Agarwal et al. 2021, "Deep reinforcement learning at the edge of
the statistical precipice". A score is the mean return of one run."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

RESAMPLES = 2000
LEVEL = 0.95


class Mean(NamedTuple):
    mean: float
    error: float | None
    """Standard error, sd / √n with n - 1 in the sd; None for a single score."""


class Interval(NamedTuple):
    estimate: float
    low: float | None
    """None where a single run tells nothing about how runs differ."""
    high: float | None


def mean_and_error(scores: Sequence[float]) -> Mean:
    error = float(stats.sem(scores)) if len(scores) > 1 else None
    return Mean(float(np.mean(scores)), error)


def interquartile_mean(*tasks: np.ndarray) -> Interval:
    """The mean of the middle half of all scores, one array of scores for each task."""
    return _bootstrapped(_middle, tasks)


def probability_of_improvement(
    ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]
) -> Interval:
    """P(X > Y) + P(X = Y)/2 over all pairs of runs (Mann and Whitney), averaged over tasks."""
    return _bootstrapped(_improvement, (*ours, *theirs))


def _middle(*tasks: np.ndarray, axis: int = -1) -> np.ndarray:
    return np.asarray(stats.trim_mean(np.concatenate(tasks, axis), 0.25, axis))


def _improvement(*samples: np.ndarray, axis: int = -1) -> np.ndarray:
    half = len(samples) // 2
    chances = []
    for x, y in zip(samples[:half], samples[half:], strict=True):
        x, y = np.moveaxis(x, axis, -1)[..., :, None], np.moveaxis(y, axis, -1)[..., None, :]
        chances.append(np.mean((x > y) + 0.5 * (x == y), axis=(-2, -1)))
    return np.asarray(np.mean(chances, axis=0))


def _bootstrapped(statistic: Callable[..., np.ndarray], samples: Sequence[np.ndarray]) -> Interval:
    """The statistic and its percentile interval; each sample is drawn anew on its own."""
    estimate = float(statistic(*samples))
    if min(len(sample) for sample in samples) < 2:
        return Interval(estimate, None, None)
    found = stats.bootstrap(
        tuple(samples),
        statistic,
        n_resamples=RESAMPLES,
        confidence_level=LEVEL,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(0),
    ).confidence_interval
    return Interval(estimate, float(found.low), float(found.high))
