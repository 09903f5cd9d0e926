"""All numbers of a crisp tree at once, moved by the returns of whole episodes.

Gradients see a discounted return, and search moves one number at a time. Thresholds, leaf values
and gains that must change together are found by augmented random search (Mania, Guy and Recht
2018). The questions' features and the tree's shape stay. The simplest tree, one linear rule of all
features, is found in this way from nothing.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.linear import Gain
from crisptree.crispen.config import EvolveConfig
from crisptree.crispen.select import Selection
from crisptree.envs.task import Task

EPOCH = 10
"""Generations between two notes of the tree and of the states that it visits."""
TOLD_MOST = 0.5
"""A step follows this share of the directions: those with the best tries."""
FEWEST_TRIES = 4
"""Least tries of a tree in a generation."""
LATEST = 2
"""The outcome is one of this many last notes."""
REACHES, SCOUTS, SCOUTING = (0.05, 0.2, 0.8), 16, (2, 8, 32)
"""First rules: their distances from doing nothing, how many at each distance, and the episodes of
the rounds of their race."""
STARTS = 4
"""How many of them evolve side by side; the worse half is dropped after each epoch."""
LEAST_CHECK = 8
"""Least episodes on which an outcome is checked."""
LAST_SPREAD = 0.2
"""The spread at the end, as a share of that at the start."""
NEARLY_ZERO = 1e-12
"""Replaces gains of zero, which a tree would drop."""
THIN_FROM, THIN_AT = 0.25, 0.6
"""Progress at which the least gains begin to go, and at which no more are left than asked for."""


@dataclass(frozen=True)
class Numbers:
    """The numbers of a tree with real actions as one vector, in comparable units.

    Thresholds and gains are in deviations of the states that the tree visits, leaf values (those at
    the mean state) in halves of the action's range.
    """

    tree: CrispTree
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    @staticmethod
    def of(tree: CrispTree, states: NDArray) -> "Numbers":
        states = tree.columns(states)
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

    def thinned(self, most: int) -> "Numbers":
        """The tree with at most so many gains for each dimension of a leaf, the largest ones. At
        the mean state it acts as before."""
        action, kept = self.tree.action.astype(np.float64), []
        for node, own in enumerate(self.tree.gains):
            order = sorted(own, key=self._size, reverse=True)
            left: list[Gain] = []
            for gain in order:
                if sum(each.dimension == gain.dimension for each in left) < most:
                    left.append(gain)
                else:
                    action[node, gain.dimension] += gain.weight * self.mean[gain.feature]
            kept.append(tuple(left))
        tree = replace(self.tree, action=action, gains=tuple(kept))
        return replace(self, tree=tree)

    def _size(self, gain: Gain) -> float:
        return abs(gain.weight) * self.deviation[gain.feature]

    @property
    def _half(self) -> NDArray[np.float64]:
        return 0.5 * (np.asarray(self.tree.actions.high) - np.asarray(self.tree.actions.low))


class RandomSearch:
    """Augmented random search: pairs of tries on both sides of a vector, which moves along the
    differences within pairs."""

    def __init__(self, mean: NDArray, spread: float, rng: np.random.Generator) -> None:
        self.mean, self.spread, self._rng = mean.copy(), spread, rng

    def ask(self, population: int) -> NDArray:
        """So many vectors to be tried, one in each row."""
        self._directions = self._rng.normal(size=(population // 2, len(self.mean)))
        moved = self.spread * self._directions
        return np.concatenate([self.mean + moved, self.mean - moved])

    def tell(self, scores: NDArray) -> None:
        """Take the scores of the vectors last asked for; more is better."""
        pairs = scores.reshape(2, -1)
        n_best = max(1, round(TOLD_MOST * len(self._directions)))
        best = np.argsort(-pairs.max(0), kind="stable")[:n_best]
        told = (pairs[0, best] - pairs[1, best]) @ self._directions[best]
        deviation = float(pairs[:, best].std())
        if deviation > 0:
            self.mean = self.mean + self.spread / (n_best * deviation) * told


def one_rule(task: Task) -> CrispTree:
    """A tree of one linear leaf with all gains zero."""
    low, high = np.asarray(task.actions.low), np.asarray(task.actions.high)
    pairs = product(range(len(low)), range(task.n_features))
    return CrispTree(
        feature=np.array([-1]),
        threshold=np.zeros(1),
        if_true=np.array([-1]),
        if_false=np.array([-1]),
        action=0.5 * (low + high)[None],
        gains=(tuple(Gain(dimension, feature, NEARLY_ZERO) for dimension, feature in pairs),),
        **task.signature,
    )


def scouted_rules(
    task: Task, selection: Selection, states: NDArray, rng: np.random.Generator
) -> list[CrispTree]:
    """The best of rules drawn at random around `one_rule`, near and far: where nothing nearby earns
    more, small steps do not help."""
    start = one_rule(task)
    numbers = Numbers.of(start, states)
    n = len(numbers.vector)
    drawn = [
        numbers.vector + reach * rng.normal(size=n) for reach in REACHES for _ in range(SCOUTS)
    ]
    rules = [start, *map(numbers.with_vector, drawn)]
    return [rules[index] for index, _ in selection.finalists(rules, SCOUTING)[:STARTS]]


class _Path:
    """One tree that evolves."""

    def __init__(
        self, tree: CrispTree, spread: float, states: NDArray, rng: np.random.Generator
    ) -> None:
        self._seen: list[NDArray] = [states]
        self.noted: list[CrispTree] = []
        self._numbers = Numbers.of(tree, states)
        self._strategy = RandomSearch(self._numbers.vector, spread, rng)
        self._scores: list[float] = []

    def ask(self, spread: float, population: int) -> list[CrispTree]:
        self._strategy.spread = spread
        return [self._numbers.with_vector(vector) for vector in self._strategy.ask(population)]

    def tell(self, scores: NDArray) -> None:
        self._strategy.tell(scores)
        self._scores.append(float(scores.mean()))

    @property
    def recent(self) -> float:
        """The mean score of the latest generations."""
        return float(np.mean(self._scores[-EPOCH:])) if self._scores else -np.inf

    def note(self) -> CrispTree:
        """Note the tree as it is now, and return it."""
        self.noted.append(self._numbers.with_vector(self._strategy.mean))
        return self.noted[-1]

    def look(self, states: NDArray, most_gains: int | None) -> None:
        """From now on, numbers are in units of all states visited so far, and there are at most so
        many gains for each dimension of a leaf."""
        self._seen.append(states)
        self._numbers = self.numbers_of(self.noted[-1])
        if most_gains is not None:
            self._numbers = self._numbers.thinned(most_gains)
        self._strategy.mean = self._numbers.vector

    def numbers_of(self, tree: CrispTree) -> Numbers:
        return Numbers.of(tree, np.concatenate(self._seen))


class Evolved(NamedTuple):
    tree: CrispTree
    selection_return: float


def evolve(
    starts: Sequence[CrispTree],
    settings: EvolveConfig,
    selection: Selection,
    states: NDArray,
    states_met_by: Callable[[CrispTree], NDArray],
    rng: np.random.Generator,
    report: Callable[[float, float], object] = lambda progress, score: None,
    time_used: Callable[[], float] = lambda: 0.0,
    most_gains: int | None = None,
) -> Evolved:
    """The best tree after evolution if it earns more on fresh episodes, else the first tree
    unchanged.

    Numbers are in units of `states` and of the states that the tree visits on the way. Trees share
    the tries of a generation; after each epoch the worse half of them is dropped. `time_used` is a
    share: at 1 there is no time left. The nearer the end, the smaller the steps. Where `most_gains`
    are given for each dimension of a leaf, all gains move at first, and the least go on the way.
    """
    assert settings.generations is not None, "the configuration is resolved before it is run"
    paths, played = [_Path(tree, settings.spread, states, rng) for tree in starts], 0
    for generation in range(1, settings.generations + 1):
        if time_used() >= 1:
            break
        progress = max(time_used(), generation / settings.generations)
        spread = _spread_at(progress, settings)
        population = max(FEWEST_TRIES, settings.population // len(paths))
        trees = [tree for path in paths for tree in path.ask(spread, population)]
        returns = selection.returns(trees, settings.episodes, least=1)
        played += returns.shape[1]
        scores = returns.mean(1).reshape(len(paths), -1)
        report(progress, float(scores.mean(1).max()))
        if np.ptp(scores) == 0:  # all earn the same
            break
        for path, mine in zip(paths, scores, strict=True):
            path.tell(mine)
        if generation % EPOCH == 0:
            best_first = sorted(paths, key=lambda path: -path.recent)
            paths = best_first[: (len(paths) + 1) // 2]
            for path in paths:
                path.look(states_met_by(path.note()), gains_at(progress, starts[0], most_gains))
    best = max(paths, key=lambda path: path.recent)
    best.note()
    last = [starts[0], *best.noted[-LATEST:]]  # of equals, the first
    if most_gains is not None:
        last = [best.numbers_of(tree).thinned(most_gains).tree for tree in last]
    # Checking takes less time than evolving.
    means = selection.careful().returns(last, settings.confirm, most=max(LEAST_CHECK, played))
    means = means.mean(1)
    return Evolved(last[int(means.argmax())], float(means.max()))


def _spread_at(progress: float, settings: EvolveConfig) -> float:
    share = max(0.0, (progress - settings.shrink_from) / (1 - settings.shrink_from))
    return settings.spread * LAST_SPREAD**share


def gains_at(progress: float, tree: CrispTree, most: int | None) -> int | None:
    """How many gains each dimension of a leaf may have at this progress, on the way from one for
    each feature to `most`."""
    if most is None:
        return None
    share = np.clip((progress - THIN_FROM) / (THIN_AT - THIN_FROM), 0.0, 1.0)
    return max(most, math.ceil(tree.n_features * (most / tree.n_features) ** share))
