"""A tree read as rules: one from the root to each leaf, TRUE branches first."""

from typing import NamedTuple

from crisptree.crisp.linear import Gain
from crisptree.crisp.nested import Action
from crisptree.crisp.walk import Condition, Observation


class Rule(NamedTuple):
    """If all conditions hold, the tree ends in `leaf` and takes `action`.

    Conditions come in the order in which the path first looks at their features. A leaf that
    nothing can reach has a rule with an empty interval; `simplify` removes such leaves.
    """

    conditions: tuple[Condition, ...]
    action: Action
    leaf: int
    gains: tuple[Gain, ...] = ()
    """Of a linear leaf: what is added to `action` for each unit of a feature."""

    def holds(self, observation: Observation) -> bool:
        return all(condition.holds(observation) for condition in self.conditions)
