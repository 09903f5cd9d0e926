"""All numbers of a crisp tree at once, moved by their return: an evolution strategy.

Gradients see a discounted return, and search moves one number at a time. Thresholds, leaf values
and gains that must change together are found by sep-CMA-ES (Ros and Hansen 2008), on returns of
whole episodes that the crisp tree plays. The questions' features and the tree's shape stay.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.linear import Gain
from crisptree.crispen.config import EvolveConfig
from crisptree.crispen.select import Selection


@dataclass(frozen=True)
class Numbers:
    """The numbers of a tree with real actions as one vector, in units that make them alike.

    Thresholds and gains are in deviations of the states that the tree meets, leaf values (those at
    the mean state) in halves of the action's range.
    """

    tree: CrispTree
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    @staticmethod
    def of(tree: CrispTree, states: NDArray) -> "Numbers":
        mean, deviation = states.mean(0, dtype=np.float64), states.std(0, dtype=np.float64)
        return Numbers(tree, mean, np.where(deviation > 1e-9, deviation, 1.0))

    @property
    def _inner(self) -> NDArray[np.bool_]:
        return self.tree.feature >= 0

    @property
    def _terms(self) -> list[tuple[int, int, int, float]]:
        """`(node, dimension, feature, weight)` of every gain."""
        return [
            (node, gain.dimension, gain.feature, gain.weight)
            for node, gains in enumerate(self.tree.gains)
            for gain in gains
        ]

    @property
    def vector(self) -> NDArray[np.float64]:
        tree, half = self.tree, self._half
        at = tree.feature[self._inner]
        thresholds = (tree.threshold[self._inner] - self.mean[at]) / self.deviation[at]
        values = tree.action.astype(np.float64)
        for node, dimension, feature, weight in self._terms:
            values[node, dimension] += weight * self.mean[feature]
        values = (values[~self._inner] - np.asarray(tree.actions.low)) / half - 1
        gains = [weight * self.deviation[f] / half[d] for _, d, f, weight in self._terms]
        return np.concatenate([thresholds, values.ravel(), np.array(gains, np.float64)])

    def with_vector(self, vector: NDArray) -> CrispTree:
        """The tree with other numbers; `with_vector(vector)` is the tree itself."""
        tree, half, inner = self.tree, self._half, self._inner
        low, high = np.asarray(tree.actions.low), np.asarray(tree.actions.high)
        at, n = tree.feature[inner], int(inner.sum())
        n_values = int((~inner).sum()) * len(half)
        threshold, action = tree.threshold.copy(), tree.action.astype(np.float64)
        raw = vector[:n] * self.deviation[at] + self.mean[at]
        threshold[inner] = np.clip(raw, -3e38, 3e38).astype(np.float32)
        action[~inner] = low + (vector[n : n + n_values].reshape(-1, len(half)) + 1) * half
        gains: list[list[Gain]] = [[] for _ in tree.gains]
        for (node, d, f, _), scaled in zip(self._terms, vector[n + n_values :], strict=True):
            weight = float(scaled * half[d] / self.deviation[f])
            action[node, d] -= weight * self.mean[f]
            gains[node].append(Gain(d, f, weight))
        moved = {(node, d) for node, d, _, _ in self._terms}
        for node in np.flatnonzero(~inner):
            for d in range(len(half)):
                if (int(node), d) not in moved:
                    action[node, d] = np.clip(np.float32(action[node, d]), low[d], high[d])
        return replace(tree, threshold=threshold, action=action, gains=tuple(map(tuple, gains)))

    @property
    def _half(self) -> NDArray[np.float64]:
        return 0.5 * (np.asarray(self.tree.actions.high) - np.asarray(self.tree.actions.low))


class SeparableCMA:
    """sep-CMA-ES: a normal distribution whose mean, step and deviations follow the best half."""

    def __init__(
        self, mean: NDArray, step: float, population: int, rng: np.random.Generator
    ) -> None:
        n, self._rng = len(mean), rng
        self.mean, self.step, self._variance = mean.copy(), step, np.ones(n)
        self._n_draws = population
        weights = np.log(population / 2 + 0.5) - np.log(np.arange(1, population // 2 + 1))
        self._weights = weights / weights.sum()
        mu = 1 / np.square(self._weights).sum()
        self._mu = mu
        self._c_step = (mu + 2) / (n + mu + 5)
        self._damping = 1 + self._c_step + 2 * max(0.0, np.sqrt((mu - 1) / (n + 1)) - 1)
        self._c_path = (4 + mu / n) / (n + 4 + 2 * mu / n)
        faster = (n + 2) / 3
        self._c_one = min(0.5, faster * 2 / ((n + 1.3) ** 2 + mu))
        rank = faster * 2 * (mu - 2 + 1 / mu) / ((n + 2) ** 2 + mu)
        self._c_mu = min(1 - self._c_one, rank)
        self._length = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2))
        self._step_path, self._path = np.zeros(n), np.zeros(n)

    def ask(self) -> NDArray:
        """Vectors to be tried, one in each row."""
        self._drawn = self._rng.normal(size=(self._n_draws, len(self.mean)))
        return self.mean + self.step * np.sqrt(self._variance) * self._drawn

    def tell(self, scores: NDArray) -> None:
        """What each of them earned; more is better."""
        best = self._drawn[np.argsort(-scores, kind="stable")[: len(self._weights)]]
        drawn = self._weights @ best
        moved = np.sqrt(self._variance) * drawn
        self.mean = self.mean + self.step * moved
        c = self._c_step
        self._step_path = (1 - c) * self._step_path + np.sqrt(c * (2 - c) * self._mu) * drawn
        longer = float(np.linalg.norm(self._step_path)) / self._length
        is_straight = longer < 1.4 + 2 / (len(self.mean) + 1)
        c = self._c_path
        self._path = (1 - c) * self._path + is_straight * np.sqrt(c * (2 - c) * self._mu) * moved
        spread = self._weights @ (self._variance * np.square(best))
        kept = 1 - self._c_one - self._c_mu
        self._variance = (
            kept * self._variance + self._c_one * np.square(self._path) + self._c_mu * spread
        )
        self.step *= float(np.exp(self._c_step / self._damping * (longer - 1)))


def evolve(
    tree: CrispTree,
    settings: EvolveConfig,
    selection: Selection,
    states: NDArray,
    rng: np.random.Generator,
    report: Callable[[int, float], object] = lambda generation, score: None,
    is_late: Callable[[], bool] = lambda: False,
) -> CrispTree:
    """The tree with the numbers of the last generation's mean, where it earns more on fresh
    episodes; else the tree as it was."""
    assert settings.generations is not None, "the configuration is resolved before it is run"
    numbers = Numbers.of(tree, states)
    strategy = SeparableCMA(numbers.vector, settings.spread, settings.population, rng)
    for generation in range(settings.generations):
        if is_late():
            break
        trees = [numbers.with_vector(vector) for vector in strategy.ask()]
        scores = selection.returns(trees, settings.episodes).mean(1)
        report(generation + 1, float(np.max(scores)))
        if np.ptp(scores) == 0:  # nothing tells them apart any more
            break
        strategy.tell(scores)
    evolved = numbers.with_vector(strategy.mean)
    before, after = selection.returns([tree, evolved], settings.confirm).mean(1)
    return evolved if after > before else tree
