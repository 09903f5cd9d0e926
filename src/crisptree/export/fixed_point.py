"""A tree in whole numbers: features, thresholds, actions and gains with fixed binary points.

Feature i is read as the whole number q = floor(x · 2^shift), kept within the chosen bits. On this
grid a decision is exact: x > t holds exactly if q > floor(t · 2^shift). An observation between two
points of the grid is decided like the point below it.

A real vector is given as whole numbers too. A constant is rounded to the nearest; a formula is a
sum of products in twice the bits, rounded once at the end. How far the result can be from the
policy's is computed and written down.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crisp.nested import Leaf, columns

ROOM = 4
"""A feature without bounds is kept up to this many times its largest threshold."""
LARGEST_BOUND = 1e9
"""Larger bounds of an environment count as none."""
LARGEST_SHIFT = 1000


class Sum(NamedTuple):
    """One number of a leaf's action: (constant + Σ weight · q[feature]) / 2^shift, rounded."""

    constant: int
    weights: tuple[tuple[int, int], ...]
    """Feature and weight."""
    shift: int


class FixedPoint(NamedTuple):
    """A policy on the grid."""

    tree: CrispTree
    """The policy whose thresholds are whole numbers in units of the grid."""
    bits: int
    shifts: tuple[int, ...]
    """Of each feature: q stands for q / 2^shift."""
    action_shifts: tuple[int, ...]
    """Of each dimension of a real vector, in the same way; empty for choices."""
    sums: dict[int, tuple[Sum, ...]]
    """Of each leaf, dimension by dimension; empty for choices."""
    bounds: tuple[tuple[int, int], ...]
    """The least and the largest number of each dimension."""
    tolerances: tuple[float, ...]
    """How far each dimension can be from the policy's, in the policy's own unit."""

    @property
    def lowest(self) -> int:
        return -(2 ** (self.bits - 1))

    @property
    def highest(self) -> int:
        return 2 ** (self.bits - 1) - 1


def fixed_point(tree: CrispTree, bits: int = 32) -> FixedPoint:
    """The policy in numbers of that many bits (16 or 32)."""
    if len(tree.features) > tree.n_features:
        raise CrisptreeError(
            "fixed point is for policies without derived features; --to c and other programs sum "
            "them in floats"
        )
    highest = 2 ** (bits - 1) - 1
    shifts = tuple(_shift(reach, highest) for reach in _reaches(tree))
    # On the grid a flag is 0 or a power of two, so that no comparison may be taken as settled.
    numbers = tuple(replace(feature, kind="number") for feature in tree.features)
    grid = replace(_on_grid(tree, shifts, highest), features=numbers).simplify()
    grid = replace(grid, features=tree.features)
    if tree.actions.kind != "box":
        return FixedPoint(grid, bits, shifts, (), {}, (), ())
    pairs = list(zip(tree.actions.low, tree.actions.high, strict=True))
    action_shifts = tuple(_shift(max(map(abs, pair)), highest) for pair in pairs)
    bounds = tuple(
        (math.ceil(_scaled(low, shift)), math.floor(_scaled(high, shift)))
        for (low, high), shift in zip(pairs, action_shifts, strict=True)
    )
    sums: dict[int, tuple[Sum, ...]] = {}
    errors = [Fraction(0)] * len(pairs)
    for leaf in np.flatnonzero(grid.feature < 0).tolist():
        found = []
        for dimension, shift in enumerate(action_shifts):
            made, error = _sum(grid, leaf, dimension, shifts, shift, bits)
            errors[dimension] = max(errors[dimension], error)
            found.append(made)
        sums[leaf] = tuple(found)
    # Half a step for the rounding, and a whole one where a bound lies between two steps.
    tolerances = tuple(
        math.nextafter(float(error + Fraction(3, 2) / _power(shift)), math.inf)
        for error, shift in zip(errors, action_shifts, strict=True)
    )
    return FixedPoint(grid, bits, shifts, action_shifts, sums, bounds, tolerances)


def decide(fixed: FixedPoint, grid_states: NDArray[np.int64]) -> NDArray[np.int64]:
    """The policy on the grid, in whole numbers: what its C code must give, to the last bit.

    Choices are counted from the environment's start.
    """
    tree = fixed.tree
    if tree.actions.kind != "box":
        return tree.act(grid_states) + np.array(tree.actions.start or 0)
    leaves = tree.apply(grid_states)
    found = np.zeros((len(grid_states), tree.actions.n_values), np.int64)
    for leaf in np.unique(leaves).tolist():
        rows = np.flatnonzero(leaves == leaf)
        for dimension, (made, (low, high)) in enumerate(
            zip(fixed.sums[leaf], fixed.bounds, strict=True)
        ):
            total = np.full(len(rows), made.constant, np.int64)
            for feature, weight in made.weights:
                total += weight * grid_states[rows, feature]
            if made.shift:
                total = (total + (1 << (made.shift - 1))) >> made.shift
            found[rows, dimension] = np.clip(total, low, high)
    return found


def values_of(fixed: FixedPoint, grid_states: NDArray[np.int64]) -> NDArray[np.float64]:
    """The observations that points of the grid stand for; exact, or infinite."""
    with np.errstate(over="ignore"):
        return np.ldexp(grid_states.astype(np.float64), -np.array(fixed.shifts))


def _reaches(tree: CrispTree) -> list[float]:
    """The largest absolute value of each feature that matters."""
    found = []
    for at, feature in enumerate(tree.features):
        thresholds = np.abs(tree.threshold[tree.feature == at])
        needed = float(thresholds.max(initial=0.0))
        bounds = [abs(each) for each in (feature.low, feature.high) if each is not None]
        if len(bounds) == 2 and max(bounds) <= LARGEST_BOUND:
            found.append(max(needed, *bounds) or 1.0)
            continue
        # A formula that goes from bound to bound within this does not need more of the feature.
        spans = [
            2
            * (tree.actions.high[gain.dimension] - tree.actions.low[gain.dimension])
            / abs(gain.weight)
            for gains in tree.gains
            for gain in gains
            if gain.feature == at
        ]
        wanted = max([ROOM * needed, *(min(span, LARGEST_BOUND) for span in spans)])
        found.append(min(wanted, sys.float_info.max) or 1.0)
    return found


def _shift(reach: float, highest: int) -> int:
    """The largest shift with which `reach` still fits."""
    shift = math.floor(math.log2(highest)) - math.frexp(reach)[1]
    while _scaled(reach, shift + 1) <= highest - 1:
        shift += 1
    while _scaled(reach, shift) > highest - 1:
        shift -= 1
    return max(-LARGEST_SHIFT, min(LARGEST_SHIFT, shift))


def _scaled(value: float, shift: int) -> Fraction:
    return Fraction(value) * _power(shift)


def _power(shift: int) -> Fraction:
    return Fraction(2) ** shift


def _on_grid(tree: CrispTree, shifts: Sequence[int], highest: int) -> CrispTree:
    """The tree with thresholds in units of the grid, without comparisons that no number of so many
    bits can settle otherwise."""

    def settled(node: int) -> int:
        while True:
            feature, threshold, if_true, if_false = tree.nodes[node]
            if feature < 0:
                return node
            limit = math.floor(_scaled(threshold, shifts[feature]))
            if limit >= highest:
                node = if_false
            elif limit < -highest - 1:
                node = if_true
            else:
                return node

    def opened(node: int) -> Leaf | tuple[int, float, int, int]:
        feature, threshold, if_true, if_false = tree.nodes[node]
        if feature < 0:
            return tree.leaf_at(node)
        limit = math.floor(_scaled(threshold, shifts[feature]))
        return feature, float(limit), settled(if_true), settled(if_false)

    return replace(tree, **columns(settled(0), opened))


def _sum(
    grid: CrispTree, leaf: int, dimension: int, shifts: Sequence[int], shift: int, bits: int
) -> tuple[Sum, Fraction]:
    """A dimension of a leaf in whole numbers, and how far it is off before the last rounding."""
    constant = Fraction(float(grid.action[leaf, dimension]))
    terms = [
        (gain.feature, Fraction(gain.weight) / _power(shifts[gain.feature]))
        for gain in grid.gains[leaf]
        if gain.dimension == dimension
    ]
    largest = 2 ** (bits - 1)
    room = 2 ** (2 * bits - 2)
    needed = abs(constant) + sum(abs(weight) * largest for _, weight in terms)
    spare = len(terms) * largest + 2  # what rounding can add
    if needed * _power(shift) + spare > room:
        raise CrisptreeError(
            f"a formula for {grid.action_names[dimension]} reaches too much for fixed point of "
            f"{bits} bits; --to c and other programs compute it in floats"
        )
    more = 0
    if terms:  # as many more bits below the point as the sum has room for
        more = 2 * bits - 2  # half of the last step is added to the sum, and must fit as well
        while needed * _power(shift + more) + spare > room:
            more -= 1
    scale = _power(shift + more)
    weights = tuple((feature, round(weight * scale)) for feature, weight in terms)
    error = abs(round(constant * scale) - constant * scale)
    for (_, whole), (_, exact) in zip(weights, terms, strict=True):
        error += abs(whole - exact * scale) * largest
    # The policy itself rounds each product and each sum to float64.
    own = needed / 2**50
    return Sum(round(constant * scale), weights, more), error / scale + own
