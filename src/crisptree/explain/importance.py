"""Which features and which splits matter: by how often they are asked, and by what is lost without.

A split is removed by sending everything to one of its sides; of the two, the one that costs less
counts. A feature is removed by doing so with each of its splits, always to the busier side. What is
lost is the mean difference over the same episodes, so luck of the draw cancels.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crisp.nested import columns
from crisptree.envs.score import play
from crisptree.explain.visited import visited


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
class Feature:
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
    features: tuple[Feature, ...]
    splits: tuple[Split, ...]

    def to_dict(self, tree: CrispTree) -> dict[str, Any]:
        told = asdict(self)
        for each in (*told["features"], *told["splits"]):
            each["feature"] = tree.feature_names[each["feature"]]
        return told


def importance(
    tree: CrispTree,
    env_id: str,
    seeds: list[int],
    *,
    report: Callable[[int, int], None] | None = None,
) -> Importance:
    """Play the policy, then the policy without each of its parts, on the same seeds."""
    met = visited(tree, env_id, seeds)
    visits = _visits(tree, met.states)
    inner = [node for node, row in enumerate(tree.nodes) if row[0] >= 0]
    used = sorted({tree.nodes[node][0] for node in inner})
    asked = sum(visits[node] for node in inner)
    parts = len(inner) + len(used)
    done = 0

    def lost(sides: Mapping[int, bool]) -> Loss:
        difference = met.returns - play(without(tree, sides), env_id, seeds)
        if len(seeds) == 1:
            return Loss(float(difference[0]), None)
        error = difference.std(ddof=1) / np.sqrt(len(seeds))
        return Loss(float(difference.mean()), float(error))

    def counted(found: Any) -> Any:
        nonlocal done
        done += 1
        if report is not None:
            report(done, parts)
        return found

    splits = []
    for node in inner:
        feature, threshold, if_true, _ = tree.nodes[node]
        share = visits[if_true] / visits[node] if visits[node] else None
        # What no state met passes can be removed at no cost.
        less = (
            min((lost({node: side}) for side in (True, False)), key=lambda each: each.mean)
            if visits[node]
            else Loss(0.0, 0.0)
        )
        splits.append(counted(Split(node, feature, threshold, visits[node], share, less)))
    features = []
    for feature in used:
        own = [node for node in inner if tree.nodes[node][0] == feature]
        busier = {node: visits[tree.nodes[node][2]] * 2 > visits[node] for node in own}
        share = sum(visits[node] for node in own) / max(asked, 1)
        features.append(counted(Feature(feature, share, lost(busier))))
    return Importance(
        len(seeds),
        len(met.states),
        float(met.returns.mean()),
        tuple(sorted(features, key=lambda each: -each.lost.mean)),
        tuple(sorted(splits, key=lambda each: -each.lost.mean)),
    )


def without(tree: CrispTree, sides: Mapping[int, bool]) -> CrispTree:
    """The tree in which the given nodes always give the given answers."""

    def skipped(node: int) -> int:
        while node in sides:
            _, _, if_true, if_false = tree.nodes[node]
            node = if_true if sides[node] else if_false
        return node

    def opened(node: int) -> int | tuple[int, float, int, int]:
        feature, threshold, if_true, if_false = tree.nodes[node]
        if feature < 0:
            return int(tree.action[node])
        return feature, threshold, skipped(if_true), skipped(if_false)

    return replace(tree, **columns(skipped(0), opened))


def _visits(tree: CrispTree, states: NDArray) -> list[int]:
    """How many states pass each node."""
    visits = [0] * tree.n_nodes
    waiting = [(0, np.asarray(states, np.float64))]
    while waiting:
        node, here = waiting.pop()
        visits[node] = len(here)
        feature, threshold, if_true, if_false = tree.nodes[node]
        if feature >= 0:
            goes_true = here[:, feature] > threshold
            waiting += [(if_true, here[goes_true]), (if_false, here[~goes_true])]
    return visits
