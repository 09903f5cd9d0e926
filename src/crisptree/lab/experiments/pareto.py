"""Return against size of crisp policies: the front, and which size is worth it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crisptree.lab.experiments.groups import Group


class Point(NamedTuple):
    group: Group
    leaves: float
    """Mean leaves of the seeds' crisp policies."""
    score: float
    error: float | None


def points_of(groups: Sequence[Group], env: str) -> list[Point]:
    """Crisp groups, small ones first."""
    points = [
        Point(g, float(np.mean(g.leaves)), g.score.mean, g.score.error)
        for g in groups
        if g.cell.env == env and g.is_crisp
    ]
    return sorted(points, key=lambda p: (p.leaves, -p.score))


def front_of(points: Sequence[Point]) -> list[Point]:
    """Points that no smaller or equal one equals or betters."""
    front: list[Point] = []
    for point in sorted(points, key=lambda p: (p.leaves, -p.score)):
        if not front or point.score > front[-1].score:
            front.append(point)
    return front


def worth_it(points: Sequence[Point]) -> Point | None:
    """The smallest on the front within one standard error of the best (Breiman's rule).

    The error is the best one's own, or the smaller one's where that is larger.
    """
    front = front_of(points)
    for point in front:
        if point.score >= front[-1].score - max(front[-1].error or 0.0, point.error or 0.0):
            return point
    return None
