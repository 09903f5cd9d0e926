"""Which features and which splits matter: by how often they are asked, and by what is lost without.

A split is removed by sending everything to one of its sides; of the two, the one that costs less
counts. A feature is removed by doing so with each of its splits, always to the busier side, and by
putting its mean in its place in the formulas of linear leaves. What is lost is the mean difference
over the same episodes, so luck of the draw cancels.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.nested import Leaf, columns
from crisptree.envs.task import Task
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
    """The importance of one inner node."""

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
    """The importance of one feature, over all its splits."""

    feature: int
    comparisons: float
    """The share of all comparisons in the visited states that look at it."""
    lost: Loss


Part = TypeVar("Part", Split, FeatureImportance)


@dataclass(frozen=True)
class Importance:
    """The importance of features and splits, the most costly to lose first."""

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
    task: Task,
    seeds: Sequence[int],
    *,
    report: Callable[[int, int], None] | None = None,
) -> Importance:
    """Play the policy, then the policy without each of its parts, on the same seeds.

    `report` is called with the number of episodes played and of all episodes.
    """
    met = visited(tree, task, seeds)
    visits = visit_counts(tree, met.states).tolist()
    splits = [node for node, row in enumerate(tree.nodes) if row[0] >= 0]
    passed = [node for node in splits if visits[node]]
    in_leaves = {gain.feature for gains in tree.gains for gain in gains}
    features = sorted({tree.nodes[node][0] for node in splits} | in_leaves)
    reduced = [without(tree, {node: side}) for node in passed for side in (True, False)]
    reduced += [_without_feature(tree, feature, met.states, visits) for feature in features]
    many = len(reduced) * len(seeds)
    on_episode = None if report is None else lambda done: report(done, many)
    losses = [_loss(met.returns - own) for own in returns_of(reduced, task, seeds, on_episode)]
    # What no state passes can be removed at no cost.
    lost = dict.fromkeys(splits, Loss(0.0, 0.0))
    for at, node in enumerate(passed):
        lost[node] = min(losses[2 * at : 2 * at + 2], key=lambda each: each.mean)
    of_features = losses[2 * len(passed) :]
    asked = max(sum(visits[node] for node in splits), 1)
    shares = [
        sum(visits[node] for node in splits if tree.nodes[node][0] == feature) / asked
        for feature in features
    ]
    return Importance(
        len(seeds),
        len(met.states),
        float(met.returns.mean()),
        _sorted(map(FeatureImportance, features, shares, of_features)),
        _sorted(_split(tree, node, visits, lost[node]) for node in splits),
    )


def _split(tree: CrispTree, node: int, visits: list[int], lost: Loss) -> Split:
    feature, threshold, if_true, _ = tree.nodes[node]
    share = visits[if_true] / visits[node] if visits[node] else None
    return Split(node, feature, threshold, visits[node], share, lost)


def _sorted(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Sorted, the most costly to lose first."""
    return tuple(sorted(parts, key=lambda each: -each.lost.mean))


def _without_feature(
    tree: CrispTree, feature: int, states: NDArray, visits: list[int]
) -> CrispTree:
    """Each split of the feature goes to its busier side; formulas see the feature's mean."""
    own = [node for node, row in enumerate(tree.nodes) if row[0] == feature]
    busier = {node: visits[tree.nodes[node][2]] * 2 > visits[node] for node in own}
    mean = float(tree.columns(states)[:, feature].mean(dtype=np.float64))
    return without(frozen(tree, feature, mean), busier)


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
