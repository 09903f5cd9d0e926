"""Rule lists grown by insertion; each rule is refitted while the others stay.

Covering takes rules in order and never looks back: states that an early rule takes wrongly are lost
for later ones. Here every rule in turn, from the last to the first, becomes the half-space and
label with the fewest errors, given which states reach it and what the rules behind it would do with
them (alternating optimisation: Carreira-Perpiñán and Tavallali 2018). A sweep never makes a list
worse. New rules are inserted where they correct most errors.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SWEEPS = 6
"""Most sweeps after the last rule was inserted; each earlier insertion is followed by one."""
SHARE = 0.25
"""Share of the remaining rules that is inserted at a time."""
COVERED = 1e-6
"""The value of a state that is covered rightly, compared with a corrected one."""
ALL = 1 - 1e-9
"""A rule that takes this share of the weight takes all, up to rounding."""


class BinnedRule(NamedTuple):
    """A rule that takes the states whose bin is at most `edge`, or above it."""

    feature: int
    edge: int
    asks_at_most: bool
    label: int


class BinnedList(NamedTuple):
    rules: tuple[BinnedRule, ...]
    otherwise: int
    """The label of states that no rule takes."""


class _Best(NamedTuple):
    gain: float
    """Weight of the errors that the rule corrects, compared with taking no states."""
    rule: BinnedRule


class ListFit:
    """Labelled states in bins, to fit lists to."""

    def __init__(
        self,
        binned: NDArray[np.int64],
        labels: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
        n_bins: int,
        smallest: int,
    ) -> None:
        self._binned, self.labels, self._n_bins = binned, labels, n_bins
        self._weights = np.ones(len(labels)) if weights is None else weights
        self._n_labels, self._smallest = int(labels.max()) + 1, smallest
        # The least weight that a rule must cover: that of `smallest` states.
        self._least = smallest * float(self._weights.mean())

    def grown(self, n_rules: int) -> BinnedList:
        """A list of at most `n_rules` rules, from the commonest label alone."""
        found = BinnedList((), self._commonest(np.ones(len(self.labels), bool)))
        while len(found.rules) < n_rules and self.errors(found) > 0:
            longer = self._inserted(found, n_rules - len(found.rules))
            if longer is None:
                break
            found = self._swept(longer)
        return self.alternated(found)

    def alternated(self, found: BinnedList) -> BinnedList:
        """The list after sweeps over its rules, until they correct no more errors."""
        wrong = self.errors(found)
        for _ in range(SWEEPS if found.rules else 0):
            better = self._swept(found)
            if self.errors(better) >= wrong:
                break
            found, wrong = better, self.errors(better)
        return found

    def errors(self, found: BinnedList) -> float:
        """The weight of wrongly labelled states."""
        return float(self._weights[self.decided(found) != self.labels].sum())

    def decided(self, found: BinnedList) -> NDArray[np.int64]:
        """The label that each state gets."""
        labels = np.full(len(self.labels), found.otherwise)
        for rule in reversed(found.rules):
            labels = np.where(self.covered(rule), rule.label, labels)
        return labels

    def covered(self, rule: BinnedRule) -> NDArray[np.bool_]:
        """Which states a rule would take, were it the first."""
        return (self._binned[:, rule.feature] <= rule.edge) == rule.asks_at_most

    def reached(self, found: BinnedList) -> NDArray[np.int64]:
        """The place of the rule that takes each state; the number of rules where none does."""
        first = np.full(len(self.labels), len(found.rules))
        for at in reversed(range(len(found.rules))):
            first[self.covered(found.rules[at])] = at
        return first

    def _swept(self, found: BinnedList) -> BinnedList:
        """The list with each rule refitted, the last one first."""
        rules, first = list(found.rules), self.reached(found)
        otherwise = self._commonest(first == len(rules))
        behind = np.full(len(self.labels), otherwise)
        for at in reversed(range(len(rules))):
            best = self._best(first >= at, behind)
            if best is not None:
                rules[at] = best.rule
            behind = np.where(self.covered(rules[at]), rules[at].label, behind)
        return BinnedList(tuple(rules), otherwise)

    def _inserted(self, found: BinnedList, room: int) -> BinnedList | None:
        """The list with a few more rules, where they correct most; None if no rule corrects
        anything."""
        rules, first = found.rules, self.reached(found)
        behind = np.full(len(self.labels), found.otherwise)
        tried: list[tuple[int, _Best]] = []
        for at in reversed(range(len(rules) + 1)):
            if at < len(rules):
                behind = np.where(self.covered(rules[at]), rules[at].label, behind)
            best = self._best(first >= at, behind)
            if best is not None and best.gain > 0:
                tried.append((at, best))
        if not tried:
            return None
        tried.sort(key=lambda each: -each[1].gain)
        chosen = dict(tried[: max(1, int(SHARE * room))])
        longer: list[BinnedRule] = []
        for at in range(len(rules) + 1):
            longer += [chosen[at].rule] if at in chosen else []
            longer += [rules[at]] if at < len(rules) else []
        return BinnedList(tuple(longer), found.otherwise)

    def _best(self, reach: NDArray[np.bool_], behind: NDArray[np.int64]) -> _Best | None:
        """The half-space and label that correct most of the states here, where the other states get
        the label `behind`."""
        rows = np.flatnonzero(reach)
        if len(rows) < 2 * self._smallest:
            return None
        binned, labels, weights = self._binned[rows], self.labels[rows], self._weights[rows]
        passed_wrong = weights * (labels != behind[rows])
        n_bins, n_labels = self._n_bins, self._n_labels
        below = np.stack(
            [
                np.bincount(column * n_labels + labels, weights, n_bins * n_labels)
                for column in binned.T
            ]
        ).reshape(-1, n_bins, n_labels)
        saved = np.stack([np.bincount(column, passed_wrong, n_bins) for column in binned.T])
        below, saved = below.cumsum(1)[:, :-1], saved.cumsum(1)[:, :-1]
        total = np.bincount(labels, weights, n_labels)
        sides = np.stack([below, total - below], 1)
        mended = np.stack([saved, passed_wrong.sum() - saved], 1)
        size = sides.sum(-1)
        # Of equals, the one that covers more: it leaves a smaller task to the others.
        gain = mended - (size - sides.max(-1)) + COVERED * sides.max(-1)
        gain = np.where((size >= self._least) & (size < ALL * total.sum()), gain, -np.inf)
        feature, side, edge = map(int, np.unravel_index(gain.argmax(), gain.shape))
        if gain[feature, side, edge] == -np.inf:
            return None
        label = int(sides[feature, side, edge].argmax())
        return _Best(float(gain[feature, side, edge]), BinnedRule(feature, edge, side == 0, label))

    def _commonest(self, rows: NDArray[np.bool_]) -> int:
        rows = rows if rows.any() else np.ones(len(rows), bool)
        return int(np.bincount(self.labels[rows], self._weights[rows]).argmax())
