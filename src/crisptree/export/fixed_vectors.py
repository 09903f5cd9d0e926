"""Points of the grid on which a wrong export in fixed point shows."""

import csv
import io
import math

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import Condition
from crisptree.export.fixed_point import FixedPoint, decide
from crisptree.export.vectors import MOST_NUMBERS, cell, thinned


def grid_vectors(fixed: FixedPoint) -> list[list[int]]:
    """For each node points that come to it: below, at and above its threshold."""
    found = []
    for visit in fixed.tree.walk():
        point = [0] * fixed.tree.n_features
        for condition in visit.conditions.values():
            point[condition.feature] = _inside(condition)
        if visit.is_leaf:
            if visit.depth == 0:
                found.append(point)
            continue
        known = visit.conditions.get(visit.feature, Condition(visit.feature))
        for value in (visit.threshold - 1, visit.threshold, visit.threshold + 1):
            if known.above < value <= known.at_most and fixed.lowest <= value <= fixed.highest:
                point[visit.feature] = int(value)
                found.append([*point])
    return thinned(found, max(1, MOST_NUMBERS // fixed.tree.n_features))


def _inside(condition: Condition) -> int:
    """A whole number that meets the condition; thresholds on the grid are whole."""
    return int(condition.above + 1 if condition.at_most == math.inf else condition.at_most)


def random_points(fixed: FixedPoint, count: int, seed: int = 0) -> NDArray[np.int64]:
    """`count` points: anywhere, around the thresholds, at the ends of the grid."""
    rng = np.random.default_rng(seed)
    tree = fixed.tree
    found = rng.integers(fixed.lowest, fixed.highest, (count, tree.n_features), endpoint=True)
    for feature in range(tree.n_features):
        limits = np.unique(tree.threshold[tree.feature == feature]).astype(np.int64)
        near = np.concatenate([limits - 1, limits, limits + 1, [0, fixed.lowest, fixed.highest]])
        picked = rng.choice(near, count)
        reach = int(np.abs(limits).max(initial=1))
        around = rng.integers(-2 * reach, 2 * reach, count, endpoint=True)
        kind = rng.integers(3, size=count)
        found[:, feature] = np.choose(kind, [found[:, feature], picked, around])
    return np.clip(found, fixed.lowest, fixed.highest)


def as_csv(fixed: FixedPoint) -> str:
    """Test vectors on the grid as a table: features and action in whole numbers."""
    tree = fixed.tree
    points = grid_vectors(fixed)
    answers = decide(fixed, np.array(points, np.int64)).reshape(len(points), -1).tolist()
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    actions = ("action",) if tree.actions.kind == "discrete" else tree.action_names
    table.writerow(map(cell, (*tree.feature_names, *actions)))
    table.writerows([*point, *answer] for point, answer in zip(points, answers, strict=True))
    return file.getvalue()
