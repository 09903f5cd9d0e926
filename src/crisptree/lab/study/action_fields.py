"""What participants fill in for an action: a choice for each part of it, or a number.

A number need not be exact. It counts as right within a tolerance that the page states: about 2 %
of the action's range, but less than what tells two leaves of a policy apart.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crisptree.crisp.signature import Actions
from crisptree.lab.study.drawing import Drawing
from crisptree.lab.study.linear_mlp import minus
from crisptree.lab.study.tree_drawing import TreeDrawing

SHARE_OF_RANGE = 0.02
SHARE_OF_GAP = 1 / 3
"""The tolerance as a share of the least difference between two leaves."""

Value = int | float
"""A choice counted from 0, or a number."""


@dataclass(frozen=True)
class ActionField:
    """One part of an action."""

    name: str
    """Empty where the action has only one part."""
    choices: tuple[str, ...] = ()
    """Empty for a number."""
    low: float = 0.0
    high: float = 0.0
    tolerance: float = 0.0

    def is_right(self, given: Value, answer: Value) -> bool:
        if self.choices:
            return given == answer
        return abs(given - answer) <= self.tolerance * (1 + 1e-9)

    def text(self, value: Value) -> str:
        """A value as people read it: the choice's name, or the number with enough digits."""
        if self.choices:
            return self.choices[int(value)]
        rounded = f"{value:.{max(0, 1 - math.floor(math.log10(self.tolerance)))}f}"
        return rounded.lstrip("-") if float(rounded) == 0 else rounded

    @property
    def range_text(self) -> str:
        """`between −2 and 2`."""
        return minus(f"between {self.low:g} and {self.high:g}")


def action_fields(actions: Actions, tolerances: Sequence[float]) -> tuple[ActionField, ...]:
    """The fields of one action; `tolerances` has a number for each dimension of a box."""
    if actions.kind == "discrete":
        return (ActionField("", actions.names),)
    if actions.kind == "multi_discrete":
        parts = zip(actions.names, actions.choices, strict=True)
        return tuple(ActionField(name, choices) for name, choices in parts)
    dimensions = zip(actions.names, actions.low, actions.high, tolerances, strict=True)
    return tuple(ActionField(name, (), *numbers) for name, *numbers in dimensions)


def is_action(fields: Sequence[ActionField], values: Sequence[Value]) -> bool:
    """Whether there is a value for each field, and one that the field can have."""
    return len(fields) == len(values) and all(
        value in range(len(field.choices)) if field.choices else math.isfinite(value)
        for field, value in zip(fields, values, strict=True)
    )


def tolerances_for(drawings: Sequence[Drawing]) -> tuple[float, ...]:
    """The tolerance of each dimension of the drawings' common action; empty where actions are
    choices."""
    actions = drawings[0].policy.actions
    if actions.kind != "box":
        return ()
    spread = np.array(actions.high) - np.array(actions.low)
    gaps = np.array([_least_gaps(drawing) for drawing in drawings]).min(axis=0)
    allowed = np.minimum(SHARE_OF_RANGE * spread, SHARE_OF_GAP * gaps)
    return tuple(map(_one_digit, allowed.tolist()))


def _least_gaps(drawing: Drawing) -> list[float]:
    """For each dimension, the least difference between two constant leaves of the drawing."""
    assert isinstance(drawing, TreeDrawing)
    tree = drawing.shown
    gaps = []
    for dimension in range(len(tree.actions.names)):
        values = [
            tree.action[leaf.node, dimension]
            for leaf in tree.leaves()
            if all(gain.dimension != dimension for gain in tree.gains[leaf.node])
        ]
        gaps.append(float(np.diff(np.unique(values)).min(initial=math.inf)))
    return gaps


def _one_digit(value: float) -> float:
    """`value` rounded down to one digit: 0.083 becomes 0.08."""
    unit = 10.0 ** math.floor(math.log10(value))
    return float(f"{math.floor(value / unit + 1e-9) * unit:.1g}")
