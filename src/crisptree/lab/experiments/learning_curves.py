"""Training curves from the metrics of a run, thinned to what a figure can show."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from crisptree.lab.experiments.record import Curve

MOST_POINTS = 100

Point = tuple[float, float, float]
"""Steps, mean return, and how many episodes it is the mean of."""


def curve_of_seed(lines: Iterable[dict[str, Any]], index: int) -> Curve:
    """One of the seeds that learned side by side."""
    return thinned([_point(line, 0) for line in lines if line.get("start", 0) == index])


def curve_of_stages(lines: Iterable[dict[str, Any]]) -> Curve:
    """All stages in a row: steps go on counting."""
    points: list[Point] = []
    before, last, stage = 0, 0, None
    for line in lines:
        if line["stage"] != stage:
            before, stage = before + last, line["stage"]
        last = line["step"]
        points.append(_point(line, before))
    return thinned(points)


def _point(line: dict[str, Any], before: int) -> Point:
    if line["return"] is None:
        return float(before + line["step"]), 0.0, 0.0
    return float(before + line["step"]), float(line["return"]), float(line.get("episodes") or 1)


def thinned(points: Sequence[Point], most: int = MOST_POINTS) -> Curve:
    """At most `most` points, each the mean over the episodes of its neighbours."""
    if not points:
        return ()
    curve = []
    for part in np.array_split(np.asarray(points, float), min(most, len(points))):
        steps, returns, episodes = part.T
        if episodes.sum() > 0:
            mean = float(np.average(returns, weights=episodes))
            curve.append((float(steps.mean()), round(mean, 4)))
    return tuple(curve)
