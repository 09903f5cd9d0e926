"""Where two trees differ, and in what share of the states that they visit."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import Condition, CrispTree, Rule
from crisptree.crisp.derived import terms_of
from crisptree.explain.action_json import action_json
from crisptree.explain.episodes import Visited

MOST_WORK = 20_000_000
"""Most conditions to look at, over all pairs of leaves."""
PLURALS = {
    "discrete": "actions",
    "multi_discrete": "parts of an action",
    "box": "dimensions of an action",
}


@dataclass(frozen=True)
class Region:
    """A region of observations in which the two trees act differently."""

    conditions: tuple[Condition, ...]
    first: Rule
    """The first tree's rule there."""
    second: Rule
    """The second tree's rule there."""
    states: int = 0
    """How many of the visited states lie in it."""
    apart: tuple[float, ...] = ()
    """For real vectors: the mean distance in these states, by dimension."""


@dataclass(frozen=True)
class Difference:
    """How the trees differ: everywhere, and where one of them really goes."""

    regions: tuple[Region, ...]
    """The most visited first; none means that the trees are the same function."""
    first_share: float | None = None
    """The share of the states the first tree meets in which the second would act otherwise."""
    second_share: float | None = None
    """The share of the states the second tree visits in which the first would act differently."""
    first_apart: tuple[float, ...] = ()
    """For real vectors: the mean distance in the states the first tree visits, by dimension."""
    second_apart: tuple[float, ...] = ()

    def to_dict(self, first: CrispTree, second: CrispTree) -> dict[str, Any]:
        """The difference as JSON has it, with names instead of numbers."""
        found = asdict(self)
        found["same"] = not self.regions
        found["regions"] = [_region_dict(region, first, second) for region in self.regions]
        return found


def compare(
    first: CrispTree, second: CrispTree, met: tuple[Visited, Visited] | None = None
) -> Difference:
    """Every region in which the two differ; with the states that each met, how much of them it
    takes.

    Regions are exact for leaves that hold an action. Two linear leaves differ where their formulas
    do; within their bounds they may still agree on some observations.
    """
    _refuse_other_tasks(first, second)
    one, other = first.simplify(), second.simplify()
    regions = _regions(one, other)
    if met is None:
        return Difference(tuple(regions))
    states = [each.states for each in met]
    differs = [_differs(first, second, each) for each in states]
    distances = [_distances(first, second, each) for each in states]
    both = first.columns(np.concatenate(states)), np.concatenate(distances)
    counted = [_counted(region, *both) for region in regions]
    return Difference(
        regions=tuple(sorted(counted, key=lambda each: -each.states)),
        first_share=float(differs[0].mean()),
        second_share=float(differs[1].mean()),
        first_apart=_mean_of_rows(distances[0]),
        second_apart=_mean_of_rows(distances[1]),
    )


def _refuse_other_tasks(first: CrispTree, second: CrispTree) -> None:
    if first.n_features != second.n_features:
        raise CrisptreeError(
            f"the policies have {first.n_features} and {second.n_features} features"
        )
    if terms_of(first.features) != terms_of(second.features):
        raise CrisptreeError(
            "the policies have different derived features: their regions cannot be compared"
        )
    if first.actions.kind != second.actions.kind:
        raise CrisptreeError(
            f"the policies have {first.actions.kind} and {second.actions.kind} actions"
        )
    if first.n_actions != second.n_actions:
        what = PLURALS[first.actions.kind]
        raise CrisptreeError(f"the policies have {first.n_actions} and {second.n_actions} {what}")


def _regions(first: CrispTree, second: CrispTree) -> list[Region]:
    ours, theirs = first.rules(), second.rules()
    conditions = [sum(len(rule.conditions) for rule in each) for each in (ours, theirs)]
    if conditions[0] * len(theirs) + conditions[1] * len(ours) > MOST_WORK:
        raise CrisptreeError(
            f"trees of {len(ours):,} and {len(theirs):,} leaves are too large to compare region by "
            "region; crisptree verify --property 'same as …' may do"
        )
    found = []
    for rule in ours:
        for other in theirs:
            if (rule.action, rule.gains) != (other.action, other.gains):
                shared = _both(rule, other)
                if shared is not None:
                    found.append(Region(shared, rule, other))
    return found


def _both(rule: Rule, other: Rule) -> tuple[Condition, ...] | None:
    """The conditions of both rules; none if nothing can meet them."""
    merged = {each.feature: each for each in rule.conditions}
    for feature, above, at_most in other.conditions:
        known = merged.get(feature, Condition(feature))
        merged[feature] = Condition(feature, max(known.above, above), min(known.at_most, at_most))
    if any(condition.is_empty for condition in merged.values()):
        return None
    return tuple(merged.values())


def _counted(region: Region, states: NDArray, distances: NDArray[np.float64]) -> Region:
    inside = np.ones(len(states), bool)
    for feature, above, at_most in region.conditions:
        column = states[:, feature].astype(np.float64)
        inside &= (column > above) & (column <= at_most)
    return replace(region, states=int(inside.sum()), apart=_mean_of_rows(distances[inside]))


def _differs(first: CrispTree, second: CrispTree, states: NDArray) -> NDArray[np.bool_]:
    """For each state, whether the actions differ."""
    return (first.act(states) != second.act(states)).reshape(len(states), -1).any(axis=1)


def _distances(first: CrispTree, second: CrispTree, states: NDArray) -> NDArray[np.float64]:
    """How far apart the real vectors are, `(states, dimensions)`; choices have no distance."""
    if first.actions.kind != "box":
        return np.empty((len(states), 0))
    return np.abs(first.act(states) - second.act(states))


def _mean_of_rows(rows: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(rows.mean(axis=0).tolist()) if rows.size else ()


def _region_dict(region: Region, first: CrispTree, second: CrispTree) -> dict[str, Any]:
    limit = float("inf")
    return {
        "conditions": [
            {
                "feature": first.feature_names[feature],
                "above": None if above == -limit else above,
                "at_most": None if at_most == limit else at_most,
            }
            for feature, above, at_most in region.conditions
        ],
        "first_action": action_json(first, region.first),
        "second_action": action_json(second, region.second),
        "states": region.states,
        "apart": list(region.apart),
    }
