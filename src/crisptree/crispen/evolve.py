"""All numbers of a crisp tree at once, moved by the returns of whole episodes.

Gradients see a discounted return, and search moves one number at a time. Thresholds, leaf values
and gains that must change together are found by augmented random search (Mania, Guy and Recht
2018). The questions' features and the tree's shape stay. The simplest tree, one linear rule of all
features, is found in this way from nothing.
"""

import math
from collections.abc import Callable
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
LATEST = 2
"""The outcome is one of this many last notes."""
REACHES, SCOUTS, SCOUTING = (0.05, 0.2, 0.8), 16, (2, 8, 32)
"""Rules drawn at random: their distances from doing nothing, how many at each distance, and the
episodes of the rounds of their race."""
HEAD_START = 20
"""Generations of a rule that begins by doing nothing, before those are tried."""
LEAST_CHECK = 8
"""Least episodes on which an outcome is checked."""
GIVES_UP = 0.5
"""Progress at which an evolution ends that has gained nothing."""
LAST_SPREAD = 0.2
"""The spread at the end, as a share of that at the start."""
NEARLY_ZERO = 1e-12
"""Replaces gains of zero, which a tree would drop."""
KEPT, RISEN = 0.75, 0.05
"""Share of the gains that stays once returns no longer rise: by less, from one epoch to the next,
than this share of all that they rose."""
THIN_FROM, THIN_AT = 0.6, 0.85
"""Progress at which the least gains go even while returns rise, and at which no more are left than
asked for."""


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

    @property
    def is_gain(self) -> NDArray[np.bool_]:
        """Which of the vector's numbers are gains; they come last."""
        n_others = int(self._inner.sum()) + int((~self._inner).sum()) * len(self._half)
        return np.arange(n_others + len(self._terms)) >= n_others

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

    def ask(self, population: int, moves: NDArray | bool = True) -> NDArray:
        """So many vectors to be tried, one in each row; they differ where it `moves`."""
        self._directions = moves * self._rng.normal(size=(population // 2, len(self.mean)))
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


def drawn_rules(task: Task, states: NDArray, rng: np.random.Generator) -> list[CrispTree]:
    """Rules with gains drawn at random, near `one_rule` and far from it."""
    numbers = Numbers.of(one_rule(task), states)
    moves = numbers.is_gain
    steps = [reach * rng.normal(size=len(moves)) for reach in REACHES for _ in range(SCOUTS)]
    return [numbers.with_vector(numbers.vector + moves * step) for step in steps]


class Thinning:
    """How many gains each dimension of a leaf may have: fewer whenever returns no longer rise, and
    in the end no more than `most`."""

    def __init__(self, n_features: int, most: int) -> None:
        self._n_features, self._most = n_features, most
        self._allowed = n_features
        self._first: float | None = None
        self._best: float | None = None

    def after(self, mean_return: float, progress: float) -> int:
        """The number allowed after an epoch with this mean return."""
        first = self._first = mean_return if self._first is None else self._first
        if self._best is None or mean_return > self._best + RISEN * abs(self._best - first):
            self._best = mean_return
        else:
            self._allowed, self._best = math.ceil(KEPT * self._allowed), None
        share = np.clip((progress - THIN_FROM) / (THIN_AT - THIN_FROM), 0.0, 1.0)
        forced = math.ceil(self._n_features * (self._most / self._n_features) ** share)
        self._allowed = max(self._most, min(self._allowed, forced))
        return self._allowed


class Evolved(NamedTuple):
    tree: CrispTree
    selection_return: float


def evolve(
    tree: CrispTree,
    settings: EvolveConfig,
    selection: Selection,
    states: NDArray,
    states_met_by: Callable[[CrispTree], NDArray],
    rng: np.random.Generator,
    report: Callable[[float, float], object] = lambda progress, score: None,
    time_used: Callable[[], float] = lambda: 0.0,
    most_gains: int | None = None,
    is_rule: bool = False,
) -> Evolved:
    """The tree after evolution if it earns more on fresh episodes, else the tree unchanged.

    Numbers are in units of `states` and of the states that the tree visits on the way. `time_used`
    is a share: at 1 there is no time left. The nearer the end, the smaller the steps; if nothing
    was gained after half of it, it ends. Where
    `most_gains` are given for each dimension of a leaf, all gains move at first, and the least ones
    go once returns no longer rise. Of a rule only gains move: an offset soon brings a little more,
    and then stands in the way.
    """
    assert settings.generations is not None, "the configuration is resolved before it is run"
    numbers, seen, noted, played = Numbers.of(tree, states), [states], [], 0
    strategy = RandomSearch(numbers.vector, settings.spread, rng)
    thinning = None if most_gains is None else Thinning(tree.n_features, most_gains)
    latest: list[float] = []
    is_checked = is_rule
    for generation in range(1, settings.generations + 1):
        if time_used() >= 1:
            break
        progress = max(time_used(), generation / settings.generations)
        strategy.spread = _spread_at(progress, settings)
        moves = numbers.is_gain if is_rule else True
        asked = strategy.ask(settings.population, moves)
        tries = [numbers.with_vector(vector) for vector in asked]
        returns = selection.returns(tries, settings.episodes, least=1)
        played += returns.shape[1]
        scores = returns.mean(1)
        latest = [*latest, float(scores.mean())][-EPOCH:]
        report(progress, latest[-1])
        if np.ptp(scores) == 0:  # all earn the same
            break
        strategy.tell(scores)
        if generation % EPOCH == 0:
            noted.append(numbers.with_vector(strategy.mean))
            seen.append(states_met_by(noted[-1]))
            numbers = Numbers.of(noted[-1], np.concatenate(seen))
            if thinning is not None:
                numbers = numbers.thinned(thinning.after(float(np.mean(latest)), progress))
            strategy.mean = numbers.vector
            if not is_checked and progress >= GIVES_UP:
                is_checked, pair = True, [tree, noted[-1]]
                means = selection.careful().returns(pair, settings.confirm, most=played).mean(1)
                if means[1] <= means[0]:
                    return Evolved(tree, float(means[0]))
    noted.append(numbers.with_vector(strategy.mean))
    last = [tree, *noted[-LATEST:]]  # of equals, the first
    if most_gains is not None:
        last = [Numbers.of(each, np.concatenate(seen)).thinned(most_gains).tree for each in last]
    # Checking takes less time than evolving.
    means = selection.careful().returns(last, settings.confirm, most=max(LEAST_CHECK, played))
    means = means.mean(1)
    return Evolved(last[int(means.argmax())], float(means.max()))


def _spread_at(progress: float, settings: EvolveConfig) -> float:
    share = max(0.0, (progress - settings.shrink_from) / (1 - settings.shrink_from))
    return settings.spread * LAST_SPREAD**share
