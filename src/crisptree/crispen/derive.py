"""Features a person would form: weighted sums of a few, found in what a teacher decides.

Where two actions meet, a sparse linear classifier tells what tells them apart; its weights, rounded
to a few digits, make a sum such as `vertical velocity + 0.3·height`. A small tree may then ask for
any such sum. Those stay whose loss would cost it more than their price.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.derived import derived_feature
from crisptree.crisp.signature import Feature, Terms
from crisptree.crispen.agreement import disagreement, ranges
from crisptree.crispen.config import DeriveConfig
from crisptree.crispen.fit import fit_cart
from crisptree.crispen.pace import Timetable
from crisptree.envs.policy import Policy
from crisptree.envs.rollout import rollout
from crisptree.envs.seeds import block_seed
from crisptree.envs.task import Task

ROWS = 8_000
"""Most states that sums are chosen on."""
FEWEST = 200
"""Least states of either action that a sum is fitted to."""
RARE = 0.01
"""Actions taken in a smaller share of the states are ignored."""
LEAST = 0.1
"""A term whose weight, in deviations, is below this share of the greatest is dropped."""
MOST_SUMMED = 16
"""Most features of a first fit, those with the greatest weights, from which sums are formed."""
PLAYS = 2
"""Trees that play after each choice, since they visit other states than their teacher."""


def derive(
    teacher: Policy,
    task: Task,
    n_leaves: int,
    config: DeriveConfig,
    *,
    seed: int,
    episodes: int,
    report: Callable[[int, Sequence[Feature], float], object] = lambda round_, found, score: None,
    is_late: Callable[[], bool] = lambda: False,
    end: float = math.inf,
) -> tuple[Feature, ...]:
    """At most `config.most` derived features for trees of `n_leaves` leaves; none if none is worth
    it.

    The choice is made anew in each round, on the states that the teacher visits and those that
    trees with the features so far visit. The features of the round whose trees earn most are
    returned.
    """
    seen: list[NDArray] = []

    def play(policy: Policy, number: int) -> float:
        first = block_seed("training", episodes, seed, number)
        seeds = range(first, first + episodes)
        played = rollout(
            [policy], task, seeds, record=True, fast=True, deadline=Timetable(end).until()
        )
        assert played.observations is not None
        seen.append(played.observations)
        return float(played.returns.mean())

    play(teacher, 0)
    best: tuple[float, tuple[Feature, ...]] = (-math.inf, ())
    for round_ in range(config.rounds):
        if round_ and is_late():
            break
        rng = np.random.default_rng([seed, round_])
        states = _sample(seen, ROWS, rng)
        found = _Choice(states, np.asarray(teacher.act(states)), n_leaves, task, config).made()
        richer = replace(task, features=(*task.features, *found))
        scores = []
        for turn in range(PLAYS):
            every = _sample(seen, 4 * ROWS, rng)
            tree = fit_cart(every, np.asarray(teacher.act(every)), None, n_leaves, richer, seed)
            scores.append(play(tree, 1 + PLAYS * round_ + turn))
        best = max(best, (max(scores), found), key=lambda each: each[0])
        report(round_ + 1, found, max(scores))
    return best[1]


def only_asked(tree: CrispTree) -> CrispTree:
    """The tree without derived features that it does not use."""
    asked = np.unique(tree.feature[tree.feature >= 0])
    kept = [*range(tree.n_features), *asked[asked >= tree.n_features].tolist()]
    if len(kept) == len(tree.features):
        return tree
    place = np.full(len(tree.features), -1)
    place[kept] = np.arange(len(kept))
    return replace(
        tree,
        feature=np.where(tree.feature >= 0, place[tree.feature], -1),
        features=tuple(tree.features[at] for at in kept),
        feature_names=(),
    )


def _sample(seen: Sequence[NDArray], most: int, rng: np.random.Generator) -> NDArray:
    every = np.concatenate(seen)
    return every[rng.permutation(len(every))[:most]]


class _Choice:
    """The choice of sums on labelled states."""

    def __init__(
        self, states: NDArray, actions: NDArray, n_leaves: int, task: Task, config: DeriveConfig
    ) -> None:
        self._states, self._actions = states.astype(np.float64), actions
        self._n_leaves, self._task, self._config = n_leaves, task, config
        self._fitted_to = len(states) * 2 // 3
        self._numbers = [i for i, each in enumerate(task.features) if each.kind == "number"]

    def made(self) -> tuple[Feature, ...]:
        """Sums from all states, then from the states where a tree with these sums is still
        wrong."""
        plain, _ = self._fitted(())
        everywhere = np.ones(len(self._states), bool)
        chosen = self._kept(self._sums(everywhere), plain)
        _, leaf = self._fitted(chosen)
        regions = (leaf == each for each in np.unique(leaf))
        local = [terms for rows in regions for terms in self._sums(rows)]
        chosen = self._kept([*chosen, *local], plain)
        return tuple(derived_feature(terms, self._task.features) for terms in chosen)

    def _fitted(self, sums: Sequence[Terms]) -> tuple[float, NDArray]:
        """How much a tree with these sums differs from the teacher on states that it was not fitted
        to, and the leaf of each state."""
        tree, n = self._tree(sums), self._fitted_to
        wrong = disagreement(self._task.actions, tree.act(self._states[n:]), self._actions[n:])
        return float(wrong.mean()), tree.apply(self._states)

    def _tree(self, sums: Sequence[Terms]) -> Any:
        # By number: the names of many sums would be very long.
        more = tuple(Feature(f"sum {i}", terms=terms) for i, terms in enumerate(sums))
        task = replace(self._task, features=(*self._task.features, *more))
        n = self._fitted_to
        return fit_cart(self._states[:n], self._actions[:n], None, self._n_leaves, task, 0)

    def _kept(self, sums: Iterable[Terms], plain: float) -> tuple[Terms, ...]:
        """The sums that a tree uses and that are worth their terms."""
        every = list(dict.fromkeys(sums))
        tree = self._tree(every)
        asked = np.unique(tree.feature[tree.feature >= tree.n_features]) - tree.n_features
        kept = [every[i] for i in asked.tolist()]
        while kept:
            now, _ = self._fitted(kept)
            without = [self._fitted([*kept[:i], *kept[i + 1 :]])[0] for i in range(len(kept))]
            worth = [
                (each - now) / (len(terms) - 1) for each, terms in zip(without, kept, strict=True)
            ]
            least = int(np.argmin(worth))
            if len(kept) <= self._config.most and worth[least] >= self._config.price * plain:
                break
            del kept[least]
        return tuple(kept)

    def _sums(self, rows: NDArray[np.bool_]) -> Iterator[Terms]:
        """Sums that tell the actions of some states apart."""
        states, actions = self._states[rows][:, self._numbers], self._actions[rows]
        if self._task.actions.kind == "box":
            scaled = actions / ranges(self._task.actions)
            for column in scaled.T if len(states) >= FEWEST else ():
                yield from self._sparse(states, column, _slopes)
            return
        for part in actions.T if actions.ndim == 2 else (actions,):
            values, counts = np.unique(part, return_counts=True)
            common = values[counts >= RARE * len(part)]
            pairs = [(part == one, part == other) for one, other in combinations(common, 2)]
            against_rest = [(part == one, part != one) for one in common if len(common) > 2]
            for one, other in [*pairs, *against_rest]:
                if min(one.sum(), other.sum()) >= FEWEST:
                    both = one | other
                    yield from self._sparse(states[both], one[both], _boundary)

    def _sparse(self, states: NDArray, told: NDArray, fit: Callable) -> Iterator[Terms]:
        """Sums of 2, 3, … features: the feature with the least weight is dropped in turn."""
        deviation = states.std(0)
        usable = np.flatnonzero(deviation > 0)
        if len(usable) < 2:
            return
        standard = (states - states.mean(0))[:, usable] / deviation[usable]
        kept = np.arange(len(usable))
        weights = fit(standard, told)
        while len(kept) >= 2:
            order = np.argsort(-np.abs(weights))
            is_clear = abs(weights[order[-1]]) > LEAST * abs(weights[order[0]])
            if len(kept) <= self._config.terms and is_clear:
                at = usable[kept[order]]
                terms = self._rounded(weights[order] / deviation[at], at)
                if len(terms) > 1:
                    yield terms
            most = min(len(kept) - 1, MOST_SUMMED)
            kept = kept[np.sort(order[:most])]
            weights = fit(standard[:, kept], told)

    def _rounded(self, weights: NDArray, at: NDArray) -> Terms:
        """The terms with the greatest first, with weight 1, and the others relative to it."""
        if weights[0] == 0:
            return ()
        digits = self._config.digits
        relative = [float(f"{weight:.{digits}g}") for weight in weights / weights[0]]
        pairs = zip(at.tolist(), relative, strict=True)
        return tuple((self._numbers[i], weight) for i, weight in pairs if weight)


def _boundary(states: NDArray, is_one: NDArray) -> NDArray:
    """The weights of a linear classifier."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(class_weight="balanced", max_iter=200).fit(states, is_one).coef_[0]


def _slopes(states: NDArray, values: NDArray) -> NDArray:
    """The weights of a linear regression."""
    return np.linalg.lstsq(states, values - values.mean(), rcond=None)[0]
