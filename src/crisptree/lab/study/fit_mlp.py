"""The one-hot MLP of an environment: trained, then binarised as readably as its score allows."""

from collections.abc import Callable

import numpy as np

from crisptree.lab.study.cross_entropy import Search, cross_entropy
from crisptree.lab.study.mlp import LinearMLP

MOST_LOST = 0.01
"""Of the best return, what a network with fewer inputs a unit may lose and still be preferred."""


def fit_mlp(
    feature_names: tuple[str, ...],
    action_names: tuple[str, ...],
    env_id: str,
    *,
    training_return: Callable[[LinearMLP, int], float],
    selection_return: Callable[[LinearMLP], float],
    search: Search,
    seed: int,
) -> tuple[LinearMLP, LinearMLP, int]:
    """`(trained, binarised, keep)`: a linear policy, and the one people get.

    Each score of the binarised network listens to its `keep` strongest inputs; `keep` is the
    smallest number whose return is within 1 % of the best, on episodes of their own.
    """
    shape = (len(action_names), len(feature_names))

    def network(weights: np.ndarray) -> LinearMLP:
        layer = (weights.reshape(shape), np.zeros(len(action_names)))
        return LinearMLP((layer,), feature_names, action_names, env_id)

    weights = cross_entropy(
        lambda weights, generation: training_return(network(weights), generation),
        shape[0] * shape[1],
        search,
        np.random.default_rng(seed),
    )
    trained = network(weights)
    candidates = {keep: trained.binarised(keep) for keep in range(1, len(feature_names) + 1)}
    returns = {keep: selection_return(mlp) for keep, mlp in candidates.items()}
    best = max(returns.values())
    keep = min(keep for keep, score in returns.items() if score >= best - MOST_LOST * abs(best))
    return trained, candidates[keep], keep
