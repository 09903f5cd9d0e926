"""The checker's own closed loop: boxes cut along the tree and moved by the plant's equations."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.verify.checker_covers import Rows
from crisptree.verify.checker_numbers import NUMBERS, Number, hull_of, variables
from crisptree.verify.plants.plant import Plant

HALVINGS = 12
MARGIN = 1e-9
"""How much more noise a cut allows for, relative to its size."""


@dataclass(frozen=True)
class Steps:
    """A tree in charge of a plant, with an action that waits in its state if there is delay."""

    tree: CrispTree
    plant: Plant
    noise: tuple[float, ...]
    with_slopes: bool
    reached: set[int] = field(default_factory=set)
    """The leaves that were met so far."""

    def image(self, low: NDArray, high: NDArray) -> Rows:
        """Boxes that hold every state one step after these."""
        parts = [self._step(node, *rows) for node, rows in self._by_leaf(low, high)]
        if not parts:
            return low, high
        return np.concatenate([part[0] for part in parts]), np.concatenate([p[1] for p in parts])

    def _step(self, leaf: int, low: NDArray, high: NDArray) -> Rows:
        acting = self.plant.disturbance_box
        n = len(low)
        all_low = np.hstack([low, np.tile(acting[:, 0], (n, 1))])
        all_high = np.hstack([high, np.tile(acting[:, 1], (n, 1))])
        n_states = low.shape[1]

        def moved(columns: list[Number]) -> list[Any]:
            return self.next(NUMBERS, leaf, columns[:n_states], columns[n_states:])

        least, most = hull_of(moved(variables(all_low, all_high)), n)
        if not self.with_slopes:
            return least, most
        # The mean value theorem: f(x) lies in f(middle) + slopes · (x - middle).
        middle = all_low / 2 + all_high / 2
        sloped = moved(variables(all_low, all_high, with_slopes=True))
        at_middle = hull_of(moved(variables(middle, middle)), n)
        for at, value in enumerate(sloped):
            if isinstance(value, Number) and value.slopes is not None:
                lower, upper = value.around(
                    at_middle[0][:, at], at_middle[1][:, at], all_low, all_high, middle
                )
                least[:, at] = np.maximum(least[:, at], lower)
                most[:, at] = np.minimum(most[:, at], upper)
        return least, most

    def next(self, xp: Any, leaf: int, state: list[Any], acting: list[Number]) -> list[Any]:
        """The next state where a leaf decides, in an arithmetic of the checker's."""
        self.reached.add(leaf)
        return list(self.plant.step(xp, state, self._action(xp, leaf, state), acting))

    def _action(self, xp: Any, leaf: int, state: list[Any]) -> Any:
        actions, held = self.tree.actions, self.tree.action[leaf].tolist()
        if actions.kind != "box":
            return held
        seen = self.plant.observe(xp, state) if self.tree.gains[leaf] else []
        for dimension, feature, weight in self.tree.gains[leaf]:
            noise = self.noise_on(feature)
            heard = seen[feature] + Number(-noise, noise) if noise else seen[feature]
            held[dimension] = held[dimension] + weight * heard
        found = []
        for value, lowest, highest in zip(held, actions.low, actions.high, strict=True):
            value = xp.clip(value, lowest, highest)
            found.append(xp.float32(value) if actions.dtype == "float32" else value)
        return found

    def noise_on(self, feature: int) -> float:
        return self.noise[feature] if self.noise else 0.0

    def _by_leaf(self, low: NDArray, high: NDArray) -> Iterator[tuple[int, Rows]]:
        """The rows that may reach each leaf, cut where the tree's answer is certain."""
        waiting = [(0, low, high)]
        while waiting:
            node, low, high = waiting.pop()
            feature, threshold, if_true, if_false = self.tree.nodes[node]
            if not len(low):
                continue
            if feature < 0:
                yield node, (low, high)
                continue
            for child, answer in ((if_true, True), (if_false, False)):
                waiting.append((child, *self._answering(low, high, feature, threshold, answer)))

    def _answering(
        self, low: NDArray, high: NDArray, feature: int, threshold: float, answer: bool
    ) -> Rows:
        """The parts of the rows in which a node may give the answer."""

        def impossible(low: NDArray, high: NDArray) -> NDArray[np.bool_]:
            seen = self.plant.observe(NUMBERS, variables(low, high))[feature]
            noise = self.noise_on(feature)
            seen = seen + Number(-noise, noise) if noise else seen
            return seen.high <= threshold if answer else seen.low > threshold

        keep = ~impossible(low, high)
        low, high = low[keep], high[keep]
        state = self._state_of(feature)
        if state is None:
            return _shaved(low, high, impossible)
        end = _turns_at(threshold, self.plant.observed_as)
        noise = self.noise_on(feature)
        if answer:
            low = low.copy()
            low[:, state] = np.maximum(low[:, state], end - noise - MARGIN * noise)
        else:
            high = high.copy()
            high[:, state] = np.minimum(high[:, state], end + noise + MARGIN * noise)
        return low, high

    def _state_of(self, feature: int) -> int | None:
        """The state a feature is, if it is one unchanged."""
        columns = variables(
            np.zeros((1, len(self.plant.states))), np.ones((1, len(self.plant.states)))
        )
        seen = columns if self.plant.features is None else self.plant.features(NUMBERS, columns)
        same = [at for at, column in enumerate(columns) if column is seen[feature]]
        return same[0] if same else None


def _turns_at(threshold: float, observed_as: str) -> float:
    """Where a state that rounds to a value above the threshold begins."""
    if observed_as != "float32":
        return threshold
    below = np.float32(threshold)
    if float(below) > threshold:
        below = np.nextafter(below, np.float32(-np.inf))
    above = np.nextafter(below, np.float32(np.inf))
    return (float(below) + float(above)) / 2


def _shaved(low: NDArray, high: NDArray, impossible: Any) -> Rows:
    """The rows without the ends, along each state, where something is impossible."""
    low, high = low.copy(), high.copy()
    for state in range(low.shape[1]):
        for side in (0, 1):
            width = high[:, state] - low[:, state]
            good, bad = np.zeros(len(low)), np.ones(len(low))
            for _ in range(HALVINGS if (width > 0).any() else 0):
                share = good / 2 + bad / 2
                slab = [low.copy(), high.copy()]
                end = high[:, state] - share * width if side else low[:, state] + share * width
                slab[1 - side][:, state] = end
                gone = impossible(*slab)
                good, bad = np.where(gone, share, good), np.where(gone, bad, share)
            if side:
                high[:, state] = np.where(good > 0, high[:, state] - good * width, high[:, state])
            else:
                low[:, state] = np.where(good > 0, low[:, state] + good * width, low[:, state])
    return low, high
