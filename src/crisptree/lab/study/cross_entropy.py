"""A linear policy by the cross-entropy method: the network behind the one-hot MLP.

Each generation draws weights from a normal distribution, lets each candidate play, and fits the
distribution to the best of them (Rubinstein & Kroese 2004), with some noise added so that it does
not settle too early (Szita & Lőrincz 2006).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Score = Callable[[NDArray[np.float64], int], float]
"""The mean return of one weight vector in one generation."""


@dataclass(frozen=True)
class Search:
    generations: int = 12
    population: int = 24
    elite: int = 6
    extra_noise: float = 0.3
    """Added to the standard deviation in the first generation, less and less until the last."""


def cross_entropy(
    score: Score, size: int, search: Search, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The mean of the last generation's distribution over `size` weights."""
    mean, deviation = np.zeros(size), np.ones(size)
    for generation in range(search.generations):
        drawn = mean + deviation * rng.standard_normal((search.population, size))
        returns = np.array([score(weights, generation) for weights in drawn])
        best = drawn[np.argsort(-returns, kind="stable")[: search.elite]]
        noise = search.extra_noise * (1 - (generation + 1) / search.generations)
        mean, deviation = best.mean(axis=0), best.std(axis=0) + noise
    return mean
