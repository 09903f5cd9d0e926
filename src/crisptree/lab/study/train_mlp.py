"""The MLP of an environment: a linear policy by the cross-entropy method, then binarised.

Each generation draws weights from a normal distribution, lets each candidate play, and fits the
distribution to the best of them (Rubinstein & Kroese 2004), with some noise added so that it does
not settle too early (Szita & Lőrincz 2006).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.envs.rollout import rollout
from crisptree.envs.seeds import block_seed, episode_seeds
from crisptree.envs.task import task_of
from crisptree.lab.study.linear_mlp import LinearMLP

MOST_LOST = 0.01
"""Share of the best return that a network may lose and still be preferred for having fewer
inputs."""


@dataclass(frozen=True)
class CrossEntropyConfig:
    generations: int = 12
    population: int = 24
    elite: int = 6
    extra_noise: float = 0.3
    """Added to the standard deviation in the first generation, less and less until the last."""


def cross_entropy(
    score: Callable[[NDArray[np.float64], int], float],
    size: int,
    config: CrossEntropyConfig,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """The mean of the last generation's distribution over `size` weights.

    `score(weights, generation)` is the mean return of one weight vector.
    """
    mean, deviation = np.zeros(size), np.ones(size)
    for generation in range(config.generations):
        drawn = mean + deviation * rng.standard_normal((config.population, size))
        returns = np.array([score(weights, generation) for weights in drawn])
        best = drawn[np.argsort(-returns, kind="stable")[: config.elite]]
        noise = config.extra_noise * (1 - (generation + 1) / config.generations)
        mean, deviation = best.mean(axis=0), best.std(axis=0) + noise
    return mean


def fewest_inputs(
    trained: LinearMLP, selection_return: Callable[[LinearMLP], float]
) -> tuple[LinearMLP, int]:
    """The binarised network whose units keep the fewest inputs, and how many they keep, among
    those within 1 % of the best return."""
    candidates = {keep: trained.binarised(keep) for keep in range(1, trained.n_features + 1)}
    returns = {keep: selection_return(mlp) for keep, mlp in candidates.items()}
    best = max(returns.values())
    keep = min(keep for keep, score in returns.items() if score >= best - MOST_LOST * abs(best))
    return candidates[keep], keep


def train_mlp(env_id: str, seed: int, config: CrossEntropyConfig) -> LinearMLP:
    """The binarised MLP of an environment, with its scores on episodes it never saw."""
    if seed < 0:
        raise CrisptreeError(f"seed is {seed}; it must not be negative")
    task = task_of(env_id)
    if task.actions.kind != "discrete":
        raise CrisptreeError(
            f"'{env_id}' has {task.actions.kind} actions; this MLP scores discrete ones"
        )
    shape = (task.n_actions, task.n_features)

    def network(weights: NDArray[np.float64]) -> LinearMLP:
        layer = (weights.reshape(shape), np.zeros(shape[0]))
        return LinearMLP((layer,), task.feature_names, task.action_names, env_id)

    def mean_return(mlp: LinearMLP, first_seed: int, count: int) -> float:
        seeds = range(first_seed, first_seed + count)
        return float(rollout([mlp], task, seeds, fast=True).returns.mean())

    def training_return(weights: NDArray[np.float64], generation: int) -> float:
        return mean_return(network(weights), block_seed("training", 4, seed, generation), 4)

    def selection_return(mlp: LinearMLP) -> float:
        return mean_return(mlp, episode_seeds("selection", seed, 1)[0], 50)

    rng = np.random.default_rng(seed)
    trained = network(cross_entropy(training_return, shape[0] * shape[1], config, rng))
    mlp, keep = fewest_inputs(trained, selection_return)
    seeds = episode_seeds("reporting", seed, 100)
    returns, before = rollout([mlp, trained], task, seeds).returns
    scores = {
        "command": f"crisptree study mlp {env_id} --seed {seed}",
        "method": "cross-entropy method on a linear policy, then binarised",
        "inputs_kept_by_each_score": keep,
        "return": float(returns.mean()),
        "return_se": float(returns.std(ddof=1) / len(returns) ** 0.5),
        "return_before_binarising": float(before.mean()),
        "episodes": len(seeds),
    }
    return replace(mlp, training=scores)
