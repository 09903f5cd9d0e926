"""Conditions on an observation: comparisons of linear terms, joined by and, or, not.

Everything is exact: numbers are fractions (a float64 is one), so that a condition's truth for an
observation is never a matter of rounding.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne

Observation = Sequence[Fraction]

OPERATORS = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq, "!=": ne}


@dataclass(frozen=True)
class Number:
    value: Fraction

    def of(self, observation: Observation) -> Fraction:
        return self.value


@dataclass(frozen=True)
class Feature:
    index: int

    def of(self, observation: Observation) -> Fraction:
        return observation[self.index]


@dataclass(frozen=True)
class Sum:
    parts: tuple["Term", ...]

    def of(self, observation: Observation) -> Fraction:
        return sum((part.of(observation) for part in self.parts), Fraction())


@dataclass(frozen=True)
class Scaled:
    factor: Fraction
    term: "Term"

    def of(self, observation: Observation) -> Fraction:
        return self.factor * self.term.of(observation)


@dataclass(frozen=True)
class Absolute:
    term: "Term"

    def of(self, observation: Observation) -> Fraction:
        return abs(self.term.of(observation))


Term = Number | Feature | Sum | Scaled | Absolute


@dataclass(frozen=True)
class Compare:
    left: Term
    operator: str
    right: Term

    def holds(self, observation: Observation) -> bool:
        return OPERATORS[self.operator](self.left.of(observation), self.right.of(observation))


@dataclass(frozen=True)
class All:
    """Every part holds; without parts, always."""

    parts: tuple["Condition", ...] = ()

    def holds(self, observation: Observation) -> bool:
        return all(part.holds(observation) for part in self.parts)


@dataclass(frozen=True)
class Some:
    """At least one part holds."""

    parts: tuple["Condition", ...]

    def holds(self, observation: Observation) -> bool:
        return any(part.holds(observation) for part in self.parts)


@dataclass(frozen=True)
class Not:
    part: "Condition"

    def holds(self, observation: Observation) -> bool:
        return not self.part.holds(observation)


Condition = Compare | All | Some | Not
ALWAYS = All()


def difference(left: Term, right: Term) -> Sum:
    """One term less another."""
    return Sum((left, Scaled(Fraction(-1), right)))


@dataclass(frozen=True)
class Linear:
    """`Σ coefficients[f] · x[f] + constant`."""

    coefficients: dict[int, Fraction]
    constant: Fraction

    def __add__(self, other: "Linear") -> "Linear":
        features = {*self.coefficients, *other.coefficients}
        both = {
            each: self.coefficients.get(each, Fraction()) + other.coefficients.get(each, Fraction())
            for each in features
        }
        present = {each: factor for each, factor in both.items() if factor}
        return Linear(present, self.constant + other.constant)

    def times(self, factor: Fraction) -> "Linear":
        scaled = {each: factor * of for each, of in self.coefficients.items() if factor * of}
        return Linear(scaled, factor * self.constant)


def branches(term: Term) -> list[Linear]:
    """The linear terms among which `term` equals one at every observation: itself, or with each
    absolute value taken as it is and turned round."""
    if isinstance(term, Number):
        return [Linear({}, term.value)]
    if isinstance(term, Feature):
        return [Linear({term.index: Fraction(1)}, Fraction())]
    if isinstance(term, Sum):
        found = [Linear({}, Fraction())]
        for part in term.parts:
            found = [so_far + more for so_far in found for more in branches(part)]
        return found
    if isinstance(term, Scaled):
        return [each.times(term.factor) for each in branches(term.term)]
    inside = branches(term.term)
    return inside + [each.times(Fraction(-1)) for each in inside]


def comparisons(condition: Condition) -> Iterator[Compare]:
    """Every comparison in a condition."""
    if isinstance(condition, Compare):
        yield condition
    elif isinstance(condition, Not):
        yield from comparisons(condition.part)
    else:
        for part in condition.parts:
            yield from comparisons(part)


def cuts(condition: Condition) -> set[tuple[int, Fraction]]:
    """Where a comparison that depends on one feature alone may change: `(feature, value)`."""
    found = set()
    for each in comparisons(condition):
        for linear in branches(difference(each.left, each.right)):
            if len(linear.coefficients) == 1:
                ((feature, factor),) = linear.coefficients.items()
                found.add((feature, -linear.constant / factor))
        for term in (each.left, each.right):
            found |= _turns(term)
    return found


def _turns(term: Term) -> set[tuple[int, Fraction]]:
    """Where an absolute value of one feature turns from falling to rising."""
    if isinstance(term, Sum):
        return set().union(*map(_turns, term.parts))
    if isinstance(term, Scaled):
        return _turns(term.term)
    if not isinstance(term, Absolute):
        return set()
    found = _turns(term.term)
    for linear in branches(term.term):
        if len(linear.coefficients) == 1:
            ((feature, factor),) = linear.coefficients.items()
            found.add((feature, -linear.constant / factor))
    return found
