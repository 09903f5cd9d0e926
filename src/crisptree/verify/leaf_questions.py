"""How a tree's leaves fit together: regions as boxes, what touches what, jumps and slopes."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.verify.answer import Answer
from crisptree.verify.boxes import NotABoxError, as_box
from crisptree.verify.conditions import ALWAYS, Condition
from crisptree.verify.properties import Jumps, Slopes

FAR = 1e3
"""How many times further away than it could matter the ends of an open box are put."""


@dataclass(frozen=True)
class Leaves:
    """The regions of a tree's leaves: `low < x <= high`, `(leaves, features)` each."""

    tree: CrispTree
    numbers: NDArray[np.int64]
    """The leaves' node numbers."""
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @staticmethod
    def of(tree: CrispTree) -> "Leaves":
        if len(tree.features) > tree.n_features:
            raise CrisptreeError(
                "this question is about policies that ask for single features; this one has "
                "derived ones"
            )
        visits = list(tree.leaves())
        low = np.full((len(visits), tree.n_features), -np.inf)
        high = np.full_like(low, np.inf)
        for row, visit in enumerate(visits):
            for feature, above, at_most in visit.conditions.values():
                low[row, feature], high[row, feature] = above, at_most
        return Leaves(tree, np.array([visit.node for visit in visits]), low, high)

    @cached_property
    def is_dead(self) -> NDArray[np.bool_]:
        """Which leaves no observation can reach."""
        return np.any(self.low >= self.high, axis=1)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """`(leaves, dimensions, features)`: the gains of linear leaves."""
        tree = self.tree
        found = np.zeros((len(self.numbers), tree.actions.n_values, tree.n_features))
        for row, leaf in enumerate(self.numbers):
            for dimension, feature, weight in tree.gains[leaf]:
                found[row, dimension, feature] += weight
        return found

    def range_in(
        self, row: int, low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the largest value of each dimension of a leaf's action within a box."""
        tree, weights = self.tree, self.weights[row]
        constant = np.atleast_1d(tree.action[self.numbers[row]]).astype(np.float64)
        with np.errstate(invalid="ignore"):
            ends = np.stack([weights * low, weights * high])
        ends = np.where(weights == 0, 0.0, ends)
        least, most = (
            constant + ends.min(axis=0).sum(axis=1),
            constant + ends.max(axis=0).sum(axis=1),
        )
        if tree.actions.kind != "box":
            return least, most
        return (
            np.clip(least, tree.actions.low, tree.actions.high),
            np.clip(most, tree.actions.low, tree.actions.high),
        )


def box_of(when: Condition, tree: CrispTree) -> NDArray[np.float64]:
    """A condition as a box of observations."""
    if when is ALWAYS:
        return np.tile([-np.inf, np.inf], (tree.n_features, 1))
    try:
        return as_box(when, tree.n_features)
    except NotABoxError:
        raise CrisptreeError(
            "here a condition must be comparisons of single features with numbers, joined by 'and'"
        ) from None


def jumps(tree: CrispTree, asked: Jumps, question: str) -> Answer:
    """Whether no dimension of a real action jumps by more where two leaves meet."""
    if tree.actions.kind != "box":
        raise CrisptreeError("jumps are a question about actions that are real numbers")
    largest, pair, at = largest_jump(tree, box_of(asked.when, tree))
    if largest <= asked.most:
        return Answer(
            question, "holds", f"the largest jump is {largest:.6g}", None, {"jump": largest}
        )
    why = f"between leaves {pair[0]} and {pair[1]} the action jumps by {largest:.6g}"
    return Answer(question, "fails", why, tuple(at), {"jump": largest, "leaves": list(pair)})


def largest_jump(
    tree: CrispTree, box: NDArray[np.float64]
) -> tuple[float, tuple[int, int], list[float]]:
    """The largest change of a dimension across a boundary of two leaves within a box, the leaves,
    and an observation on the boundary."""
    leaves = Leaves.of(tree)
    low, high = np.maximum(leaves.low, box[:, 0]), np.minimum(leaves.high, box[:, 1])
    alive = np.flatnonzero((low < high).all(axis=1) | ((low <= high).all(axis=1) & ~leaves.is_dead))
    best = (0.0, (-1, -1), [0.0] * tree.n_features)
    for count, one in enumerate(alive.tolist()):
        for other in alive[count + 1 :].tolist():
            bottom, top = np.maximum(low[one], low[other]), np.minimum(high[one], high[other])
            if (bottom > top).any():
                continue  # their closures do not meet
            found = _difference(leaves, one, other, bottom, top)
            if found[0] > best[0]:
                pair = (int(leaves.numbers[one]), int(leaves.numbers[other]))
                best = (found[0], pair, found[1])
    return best


def _difference(
    leaves: Leaves, one: int, other: int, bottom: NDArray, top: NDArray
) -> tuple[float, list[float]]:
    """The largest difference of two leaves' actions within a box, both brought into their bounds,
    and where it is."""
    tree = leaves.tree
    best, where = 0.0, np.clip(0.0, bottom, top)
    for dimension in range(tree.actions.n_values):
        bounds = tree.actions.low[dimension], tree.actions.high[dimension]
        lines = [
            _Line(
                float(tree.action[leaves.numbers[row], dimension]), leaves.weights[row, dimension]
            )
            for row in (one, other)
        ]
        for upper, lower in (lines, lines[::-1]):
            size, at = _largest_gap(upper, lower, bottom, top, bounds)
            if size > best:
                best, where = size, at
    return best, where.tolist()


class _Line(NamedTuple):
    constant: float
    weights: NDArray[np.float64]

    def __call__(self, x: NDArray) -> float:
        return float(self.constant + self.weights @ x)


def _largest_gap(
    upper: _Line, lower: _Line, bottom: NDArray, top: NDArray, bounds: tuple[float, float]
) -> tuple[float, NDArray[np.float64]]:
    """The most by which one line, brought into its bounds, is above another within a box.

    Where the gap is above 0 it is min(upper, most) - max(lower, least), which is concave. So it is
    largest on the way from where `upper` is largest to where `lower` is least, which exchanges the
    ends of those features first that lower `lower` most for what they cost `upper`: at one of its
    corners, or where a line meets its bound.
    """
    least, most = bounds
    bottom, top = _finite(upper, lower, bottom, top, most - least)
    up, down = upper.weights, lower.weights
    at = np.where((up > 0) | ((up == 0) & (down < 0)), top, bottom)
    both = np.flatnonzero(up * down > 0)
    tried = [at]
    for feature in both[np.argsort(-np.abs(down[both]) / np.abs(up[both]), kind="stable")]:
        after = at.copy()
        after[feature] = bottom[feature] if up[feature] > 0 else top[feature]
        for line, bound in ((upper, most), (lower, least)):
            before, change = line(at) - bound, line(after) - line(at)
            if change and 0 < -before / change < 1:
                tried.append(at - before / change * (after - at))
        tried.append(after)
        at = after
    gaps = [np.clip(upper(x), least, most) - np.clip(lower(x), least, most) for x in tried]
    return float(max(gaps)), tried[int(np.argmax(gaps))]


def _finite(
    upper: _Line, lower: _Line, bottom: NDArray, top: NDArray, span: float
) -> tuple[NDArray, NDArray]:
    """The box, with ends so far away in place of infinite ones that lines are beyond all bounds."""
    ends = np.concatenate([bottom, top])
    far = 1.0 + np.abs(ends[np.isfinite(ends)]).max(initial=0.0)
    slopes = np.abs(np.concatenate([upper.weights, lower.weights]))
    reach = span + abs(upper.constant) + abs(lower.constant) + slopes.sum() * far
    far += FAR * reach / slopes[slopes > 0].min(initial=np.inf)
    return np.clip(bottom, -far, far), np.clip(top, -far, far)


def slopes(tree: CrispTree, asked: Slopes, question: str) -> Answer:
    """Whether no dimension of the action changes faster with a feature inside any leaf."""
    box = box_of(asked.when, tree)
    leaves = Leaves.of(tree)
    low, high = np.maximum(leaves.low, box[:, 0]), np.minimum(leaves.high, box[:, 1])
    met = (low <= high).all(axis=1) & ~leaves.is_dead
    # A line that is beyond a bound wherever its leaf decides changes nothing.
    moves = [
        np.subtract(*leaves.range_in(row, low[row], high[row])) != 0 for row in range(len(low))
    ]
    steep = np.abs(leaves.weights[:, :, asked.feature]) * np.stack(moves) * met[:, None]
    steep = steep.max(axis=1)
    worst = int(np.argmax(steep))
    name = printable(tree.feature_names[asked.feature])
    if steep[worst] <= asked.most:
        why = f"inside a leaf the action changes by at most {steep[worst]:.6g} per {name}"
        return Answer(question, "holds", why, None, {"slope": float(steep[worst])})
    why = f"in leaf {leaves.numbers[worst]} the action changes by {steep[worst]:.6g} per {name}"
    details = {"slope": float(steep[worst]), "leaf": int(leaves.numbers[worst])}
    return Answer(question, "fails", why, None, details)
