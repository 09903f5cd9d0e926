"""Which features and which splits matter: by how often they are asked, and by what is lost without.

A split is removed by sending everything to one of its sides; of the two, the one that costs less
counts. A feature is removed by doing so with each of its splits, always to the busier side, and by
putting its mean in its place in the formulas of linear leaves. What is lost is the mean difference
over the same episodes, so luck of the draw cancels.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.nested import Leaf, columns
from crisptree.explain.episodes import returns_of, visited
from crisptree.show.visits import visit_counts


@dataclass(frozen=True)
class Loss:
    """How much lower the mean return is, with its standard error over the episodes."""

    mean: float
    standard_error: float | None
    """None after a single episode."""

    def __str__(self) -> str:
        error = "" if self.standard_error is None else f" ± {self.standard_error:.1f}"
        return f"{self.mean:.1f}{error}"


@dataclass(frozen=True)
class Split:
    """One inner node."""

    node: int
    feature: int
    threshold: float
    visits: int
    """States that pass it."""
    goes_true: float | None
    """The share of them for which it is TRUE; none if no state passes."""
    lost: Loss


@dataclass(frozen=True)
class FeatureImportance:
    """One feature, over all its splits."""

    feature: int
    comparisons: float
    """The share of all comparisons, in the states met, that look at it."""
    lost: Loss


@dataclass(frozen=True)
class Importance:
    """Features and splits, the most costly to lose first."""

    episodes: int
    states: int
    mean_return: float
    features: tuple[FeatureImportance, ...]
    splits: tuple[Split, ...]

    def to_dict(self, tree: CrispTree) -> dict[str, Any]:
        """The importance as JSON has it, with names instead of numbers."""
        found = asdict(self)
        for each in (*found["features"], *found["splits"]):
            each["feature"] = tree.feature_names[each["feature"]]
        return found


def importance(
    tree: CrispTree,
    env_id: str,
    seeds: list[int],
    *,
    report: Callable[[int, int], None] | None = None,
) -> Importance:
    """Play the policy, then the policy without each of its parts, on the same seeds.

    `report` is called with the number of parts done and of all parts.
    """
    met = visited(tree, env_id, seeds)
    visits = visit_counts(tree, met.states).tolist()
    inner = [node for node, row in enumerate(tree.nodes) if row[0] >= 0]
    in_leaves = {gain.feature for gains in tree.gains for gain in gains}
    used = sorted({tree.nodes[node][0] for node in inner} | in_leaves)
    means = met.states.mean(axis=0, dtype=np.float64).tolist()
    done = 0

    def lost(*reduced: CrispTree) -> Loss:
        """What the cheapest of these trees loses."""
        nonlocal done
        losses = [_loss(met.returns - returns_of(each, env_id, seeds)) for each in reduced]
        done += 1
        if report is not None:
            report(done, len(inner) + len(used))
        # What no state passes can be removed at no cost.
        return min(losses, key=lambda each: each.mean) if losses else Loss(0.0, 0.0)

    splits = []
    for node in inner:
        feature, threshold, if_true, _ = tree.nodes[node]
        share = visits[if_true] / visits[node] if visits[node] else None
        sides = (True, False) if visits[node] else ()
        reduced = [without(tree, {node: side}) for side in sides]
        splits.append(Split(node, feature, threshold, visits[node], share, lost(*reduced)))
    features = []
    asked = sum(visits[node] for node in inner)
    for feature in used:
        own = [node for node in inner if tree.nodes[node][0] == feature]
        busier = {node: visits[tree.nodes[node][2]] * 2 > visits[node] for node in own}
        share = sum(visits[node] for node in own) / max(asked, 1)
        reduced = without(frozen(tree, feature, means[feature]), busier)
        features.append(FeatureImportance(feature, share, lost(reduced)))
    return Importance(
        len(seeds),
        len(met.states),
        float(met.returns.mean()),
        tuple(sorted(features, key=lambda each: -each.lost.mean)),
        tuple(sorted(splits, key=lambda each: -each.lost.mean)),
    )


def _loss(difference: NDArray[np.float64]) -> Loss:
    if len(difference) == 1:
        return Loss(float(difference[0]), None)
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    return Loss(float(difference.mean()), float(error))


def without(tree: CrispTree, sides: Mapping[int, bool]) -> CrispTree:
    """The tree in which the given nodes always give the given answers."""

    def skipped(node: int) -> int:
        while node in sides:
            _, _, if_true, if_false = tree.nodes[node]
            node = if_true if sides[node] else if_false
        return node

    def opened(node: int) -> Leaf | tuple[int, float, int, int]:
        feature, threshold, if_true, if_false = tree.nodes[node]
        if feature < 0:
            return tree.leaf_at(node)
        return feature, threshold, skipped(if_true), skipped(if_false)

    return replace(tree, **columns(skipped(0), opened))


def frozen(tree: CrispTree, feature: int, value: float) -> CrispTree:
    """The tree whose linear leaves always see `value` for a feature."""
    if not tree.is_linear:
        return tree
    action, gains = tree.action.copy(), list(tree.gains)
    for leaf, held in enumerate(tree.gains):
        gains[leaf] = tuple(gain for gain in held if gain.feature != feature)
        for gain in held:
            if gain.feature == feature:
                action[leaf, gain.dimension] += gain.weight * value
        for dimension, (low, high) in enumerate(
            zip(tree.actions.low, tree.actions.high, strict=True)
        ):
            if not any(gain.dimension == dimension for gain in gains[leaf]):
                action[leaf, dimension] = np.clip(action[leaf, dimension], low, high)
    action[tree.feature >= 0] = 0.0
    return replace(tree, action=action, gains=tuple(gains))
