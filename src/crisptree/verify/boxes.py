"""Conditions that describe a box: one interval a feature."""

import numpy as np
from numpy.typing import NDArray

from crisptree.verify.conditions import (
    Absolute,
    All,
    Compare,
    Condition,
    Linear,
    Scaled,
    Sum,
    Term,
    branches,
    difference,
)
from crisptree.verify.floats import neighbours

Box = NDArray[np.float64]
"""`(features, 2)`: the lowest and the highest value, both inside; ±inf where there is none."""


class NotABoxError(ValueError):
    """The condition is more than comparisons of single features with numbers, joined by `and`."""


def as_box(condition: Condition, n_features: int) -> Box:
    """The float64 observations that meet the condition, as a box."""
    box = np.tile([-np.inf, np.inf], (n_features, 1))
    for each in _comparisons(condition):
        for linear, strict in _below_zero(each):
            _narrow(box, linear, strict)
    return box


def _comparisons(condition: Condition) -> list[Compare]:
    if isinstance(condition, Compare):
        return [condition]
    if isinstance(condition, All):
        return [each for part in condition.parts for each in _comparisons(part)]
    raise NotABoxError


def _below_zero(compare: Compare) -> list[tuple[Linear, bool]]:
    """Linear terms that are all below zero (strictly or not) exactly if the comparison holds."""
    left_less = difference(compare.left, compare.right)
    right_less = difference(compare.right, compare.left)
    terms = {
        "<": [left_less],
        "<=": [left_less],
        ">": [right_less],
        ">=": [right_less],
        "=": [left_less, right_less],
    }
    if compare.operator not in terms or not all(map(_convex, terms[compare.operator])):
        raise NotABoxError
    strict = compare.operator in "<>"
    return [(each, strict) for term in terms[compare.operator] for each in branches(term)]


def _convex(term: Term, sign: int = 1) -> bool:
    """Whether absolute values only add: the term is then the largest of its branches."""
    if isinstance(term, Sum):
        return all(_convex(part, sign) for part in term.parts)
    if isinstance(term, Scaled):
        return _convex(term.term, sign if term.factor >= 0 else -sign)
    return not isinstance(term, Absolute) or (sign > 0 and _convex(term.term, sign))


def _narrow(box: Box, linear: Linear, strict: bool) -> None:
    if len(linear.coefficients) > 1:
        raise NotABoxError
    if not linear.coefficients:
        if linear.constant > 0 or (strict and linear.constant == 0):
            box[:] = [np.inf, -np.inf]
        return
    ((feature, factor),) = linear.coefficients.items()
    cut = -linear.constant / factor
    before, on_or_before, on_or_after, after = neighbours(cut, np.float64)
    low, high = box[feature]
    if factor > 0:
        inside = before if strict and on_or_before == cut else on_or_before
        box[feature] = low, min(high, float(inside))
    else:
        inside = after if strict and on_or_after == cut else on_or_after
        box[feature] = max(low, float(inside)), high
