"""Trees and conditions as formulas of z3 over the floats of one precision.

z3 reasons about real numbers. What it must not do is to find an observation between two
neighbouring floats, where there is none. So for every value at which a comparison changes (a cut)
the gaps between that value and the floats beside it are ruled out. What is left between two cuts is
an interval that starts and ends with a float, on which no comparison of a single feature changes:
rounding an answer to the nearest float keeps its truth.
"""

import time
from fractions import Fraction
from typing import Any

import z3

from crisptree.crisp import CrispTree, Rule
from crisptree.verify.conditions import (
    Absolute,
    Compare,
    Condition,
    Feature,
    Not,
    Number,
    Some,
    Sum,
    Term,
    cuts,
)
from crisptree.verify.floats import largest, nearest, neighbours
from crisptree.verify.properties import Mirror

OPERATORS = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "=": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
}


class Undecided(Exception):  # noqa: N818  an answer, not a mistake
    """The solver gave up; `str` says why."""


class Point:
    """An observation whose values are unknown."""

    def __init__(self, space: "Space", values: list[Any], signs: list[int], axes: list[int]):
        self.space, self.values, self.signs, self.axes = space, values, signs, axes

    def mirrored(self, mirror: Mirror) -> "Point":
        signs = [sign * self.signs[at] for sign, at in zip(mirror.sign, mirror.source, strict=True)]
        axes = [self.axes[at] for at in mirror.source]
        values = [self.space.axis(axis, sign) for axis, sign in zip(axes, signs, strict=True)]
        return Point(self.space, values, signs, axes)

    def raised(self, feature: int) -> "Point":
        """The same observation with another value of one feature."""
        axis = self.space.new_axis()
        axes = [*self.axes[:feature], axis, *self.axes[feature + 1 :]]
        values = [self.space.axis(each, sign) for each, sign in zip(axes, self.signs, strict=True)]
        return Point(self.space, values, self.signs, axes)

    def cut(self, feature: int, value: Fraction) -> None:
        self.space.cut(self.axes[feature], self.signs[feature] * value)


class Space:
    """Unknown numbers, the values at which something changes for them, and a solver."""

    def __init__(self, n_features: int, dtype: Any, deadline: float) -> None:
        self._dtype, self._deadline = dtype, deadline
        self._axes: list[Any] = []
        self._cuts: set[tuple[int, Fraction]] = set()
        self._solver = z3.Solver()
        self.point = Point(
            self,
            [self.axis(self.new_axis()) for _ in range(n_features)],
            [1] * n_features,
            list(range(n_features)),
        )

    def new_axis(self) -> int:
        self._axes.append(z3.Real(f"x{len(self._axes)}"))
        return len(self._axes) - 1

    def axis(self, axis: int, sign: int = 1) -> Any:
        return self._axes[axis] if sign > 0 else -self._axes[axis]

    def cut(self, axis: int, value: Fraction) -> None:
        self._cuts.add((axis, value))

    def require(self, formula: Any) -> None:
        self._solver.add(formula)

    def action(self, tree: CrispTree, point: Point) -> list[Any]:
        """The numbers of the action the tree takes at a point, as unknowns of their own."""
        of_kind = z3.FreshReal if tree.actions.kind == "box" else z3.FreshInt
        action = [of_kind("action") for _ in range(tree.actions.n_values)]
        leaves = []
        for rule in tree.rules():
            self.check_time()
            values = zip(action, self.held(tree, rule.leaf, point), strict=True)
            leaves.append(
                z3.And(*[each == value for each, value in values], self.within(tree, rule, point))
            )
        self.require(z3.Or(leaves))
        return action

    def held(self, tree: CrispTree, leaf: int, point: Point) -> list[Any]:
        """The numbers of a leaf's action at a point."""
        held = tree.action[leaf].tolist()
        if tree.actions.kind == "discrete":
            return [held]
        if tree.actions.kind == "multi_discrete":
            return held
        found = []
        gains = tree.gains[leaf]
        bounds = zip(held, tree.actions.low, tree.actions.high, strict=True)
        for dimension, (constant, low, high) in enumerate(bounds):
            value = _real(Fraction(constant))
            terms = [gain for gain in gains if gain.dimension == dimension]
            for gain in terms:
                value = value + _real(Fraction(gain.weight)) * point.values[gain.feature]
            if terms:
                least, most = _real(Fraction(low)), _real(Fraction(high))
                value = z3.If(value < least, least, z3.If(value > most, most, value))
            found.append(value)
        return found

    def check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise Undecided("the time is over")

    def within(self, tree: CrispTree, rule: Rule, point: Point) -> Any:
        """The point meets every condition of a rule."""
        conditions = []
        for feature, above, at_most in rule.conditions:
            if above > float("-inf"):
                value = self.asked(tree, feature, above, point)
                conditions.append(value > _real(Fraction(above)))
            if at_most < float("inf"):
                value = self.asked(tree, feature, at_most, point)
                conditions.append(value <= _real(Fraction(at_most)))
        return z3.And(conditions)

    def asked(self, tree: CrispTree, feature: int, threshold: float, point: Point) -> Any:
        """What is compared with a threshold: a value, or the sum of a derived feature."""
        terms = tree.features[feature].terms
        if terms:
            return z3.Sum([_real(Fraction(weight)) * point.values[at] for at, weight in terms])
        point.cut(feature, Fraction(threshold))
        return point.values[feature]

    @staticmethod
    def other_than(action: Any, found: Any, images: tuple[int, ...]) -> Any:
        """`found` is not the action that `images` puts in the place of `action`."""
        pairs = enumerate(images)
        return z3.Or([z3.And(action == each, found != image) for each, image in pairs])

    def holds(self, condition: Condition, point: Point) -> Any:
        for feature, value in cuts(condition):
            point.cut(feature, value)
        return _formula(condition, point.values)

    def off_the_thresholds(self, tree: CrispTree, point: Point) -> Any:
        """No value the tree looks at lies exactly on the threshold it is compared with."""
        apart = []
        for feature, threshold, _, _ in tree.nodes:
            if feature >= 0:
                value = self.asked(tree, feature, threshold, point)
                apart.append(value != _real(Fraction(threshold)))
        return z3.And(apart)

    def solution(self) -> dict[int, float] | None:
        """Floats that meet every requirement, axis by axis; None if no numbers do."""
        limit = _real(largest(self._dtype))
        for axis in self._axes:
            self._solver.add(axis <= limit, axis >= -limit)
        for axis, value in sorted(self._cuts):
            self._solver.add(*self._gaps(self._axes[axis], value))
            self.check_time()
        self._cuts.clear()
        left = self._deadline - time.monotonic()
        self._solver.set("timeout", int(min(max(1.0, left * 1000), 2**31)))
        answer = self._solver.check()
        if answer == z3.unsat:
            return None
        if answer == z3.unknown:
            raise Undecided(f"z3 gave no answer ({self._solver.reason_unknown()})")
        model = self._solver.model()
        return {
            at: float(nearest(_fraction(model.eval(axis, model_completion=True)), self._dtype))
            for at, axis in enumerate(self._axes)
        }

    def holds_of(self, condition: Condition, values: list[Any]) -> Any:
        """A condition on numbers that are no observation's."""
        return _formula(condition, values)

    def _gaps(self, axis: Any, value: Fraction) -> list[Any]:
        before, on_or_before, on_or_after, after = map(_real, neighbours(value, self._dtype))
        steps = [(before, on_or_before), (on_or_before, on_or_after), (on_or_after, after)]
        return [z3.Or(axis <= low, axis >= high) for low, high in steps]


def _formula(condition: Condition, values: list[Any]) -> Any:
    if isinstance(condition, Compare):
        left, right = _term(condition.left, values), _term(condition.right, values)
        return OPERATORS[condition.operator](left, right)
    if isinstance(condition, Not):
        return z3.Not(_formula(condition.part, values))
    parts = [_formula(part, values) for part in condition.parts]
    return z3.Or(parts) if isinstance(condition, Some) else z3.And(parts)


def _term(term: Term, values: list[Any]) -> Any:
    if isinstance(term, Number):
        return _real(term.value)
    if isinstance(term, Feature):
        return values[term.index]
    if isinstance(term, Sum):
        return z3.Sum([_term(part, values) for part in term.parts])
    inside = _term(term.term, values)
    if isinstance(term, Absolute):
        return z3.If(inside < 0, -inside, inside)
    return _real(term.factor) * inside


def _real(value: Fraction) -> Any:
    return z3.RealVal(f"{value.numerator}/{value.denominator}")


def _fraction(value: Any) -> Fraction:
    return Fraction(value.numerator_as_long(), value.denominator_as_long())
