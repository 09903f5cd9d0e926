"""Where two trees differ, and in what share of the states they meet."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import Condition, CrispTree, Rule
from crisptree.explain.visited import Visited

MOST_WORK = 20_000_000
"""Conditions to look at, over all pairs of leaves."""


@dataclass(frozen=True)
class Region:
    """Observations for which the two take other actions."""

    conditions: tuple[Condition, ...]
    first_action: int
    second_action: int
    states: int = 0
    """How many of the states met lie in it."""


@dataclass(frozen=True)
class Difference:
    """How the trees differ: everywhere, and where one of them really goes."""

    regions: tuple[Region, ...]
    """The most visited first; none means that the trees are the same function."""
    first_share: float | None = None
    """The share of the states the first tree meets in which the second would act otherwise."""
    second_share: float | None = None
    """The same, the other way round."""

    def to_dict(self, tree: CrispTree) -> dict[str, Any]:
        told = asdict(self)
        told["same"] = not self.regions
        told["regions"] = [_told(region, tree) for region in self.regions]
        return told


def compare(
    first: CrispTree, second: CrispTree, met: tuple[Visited, Visited] | None = None
) -> Difference:
    """Every region in which the two differ, exactly; with the states that each met, how much of
    them it takes."""
    for what in ("n_features", "n_actions"):
        ours, theirs = getattr(first, what), getattr(second, what)
        if ours != theirs:
            raise CrisptreeError(f"the policies have {ours} and {theirs} {what[2:]}")
    regions = _regions(first.simplify(), second.simplify())
    if met is None:
        return Difference(tuple(regions))
    both = np.concatenate([each.states for each in met])
    counted = [
        Region(each.conditions, each.first_action, each.second_action, _count(each, both))
        for each in regions
    ]
    shares = [float(_differs(first, second, each.states).mean()) for each in met]
    return Difference(tuple(sorted(counted, key=lambda each: -each.states)), *shares)


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
            if rule.action != other.action:
                conditions = _both(rule, other)
                if conditions is not None:
                    found.append(Region(conditions, rule.action, other.action))
    return found


def _both(rule: Rule, other: Rule) -> tuple[Condition, ...] | None:
    """The conditions of both rules; none if nothing can meet them."""
    merged = {each.feature: each for each in rule.conditions}
    for feature, above, at_most in other.conditions:
        known = merged.get(feature, Condition(feature))
        merged[feature] = Condition(feature, max(known.above, above), min(known.at_most, at_most))
    if any(above >= at_most for _, above, at_most in merged.values()):
        return None
    return tuple(merged.values())


def _count(region: Region, states: NDArray) -> int:
    inside = np.ones(len(states), bool)
    for feature, above, at_most in region.conditions:
        column = states[:, feature].astype(np.float64)
        inside &= (column > above) & (column <= at_most)
    return int(inside.sum())


def _differs(first: CrispTree, second: CrispTree, states: NDArray) -> NDArray[np.bool_]:
    return first.predict(states)[0] != second.predict(states)[0]


def _told(region: Region, tree: CrispTree) -> dict[str, Any]:
    limit = float("inf")
    return {
        "conditions": [
            {
                "feature": tree.feature_names[feature],
                "above": None if above == -limit else above,
                "at_most": None if at_most == limit else at_most,
            }
            for feature, above, at_most in region.conditions
        ],
        "first_action": tree.action_names[region.first_action],
        "second_action": tree.action_names[region.second_action],
        "states": region.states,
    }
