"""A tree read as rules: one from the root to each leaf, TRUE branches first."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crisptree.crisp.route import Nodes

Observation = Sequence[int | float] | np.ndarray


class Condition(NamedTuple):
    """`above < x[feature] <= at_most`: what all comparisons of one feature come to."""

    feature: int
    above: float = -math.inf
    at_most: float = math.inf

    def holds(self, observation: Observation) -> bool:
        # Not one chained comparison: an observation of -inf is not above -inf.
        value = float(observation[self.feature])
        return (value > self.above or self.above == -math.inf) and value <= self.at_most


class Rule(NamedTuple):
    """If all conditions hold, the tree ends in `leaf` and takes `action`.

    Conditions come in the order in which the path first looks at their features. A leaf that
    nothing can reach has a rule with an empty interval; `simplify` removes such leaves.
    """

    conditions: tuple[Condition, ...]
    action: int
    leaf: int

    def holds(self, observation: Observation) -> bool:
        return all(condition.holds(observation) for condition in self.conditions)


def rules(nodes: Nodes, actions: Sequence[int]) -> tuple[Rule, ...]:
    """The rule of every leaf, in the order of the leaves with TRUE before FALSE."""
    found: list[Rule] = []
    waiting: list[tuple[int, dict[int, Condition]]] = [(0, {})]
    while waiting:
        node, path = waiting.pop()
        feature, threshold, if_true, if_false = nodes[node]
        if feature < 0:
            found.append(Rule(tuple(path.values()), actions[node], node))
            continue
        known = path.get(feature, Condition(feature))
        is_true = known._replace(above=max(known.above, threshold))
        is_false = known._replace(at_most=min(known.at_most, threshold))
        waiting.append((if_false, {**path, feature: is_false}))
        waiting.append((if_true, {**path, feature: is_true}))
    return tuple(found)
