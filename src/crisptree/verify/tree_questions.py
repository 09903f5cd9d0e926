"""Exact answers about the tree alone.

Every question is a search for an observation that shows the opposite (for `sometimes` and `where`,
the thing itself): none means that it holds for all of them. Actions are rows of numbers: one for a
choice, one a part for several, one a dimension for a real vector.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import z3

from crisptree.base.text import printable
from crisptree.crisp import Condition as Interval
from crisptree.crisp import CrispTree
from crisptree.verify.answer import Answer
from crisptree.verify.conditions import ALWAYS, Condition
from crisptree.verify.leaf_questions import jumps, slopes
from crisptree.verify.properties import (
    Always,
    Bounded,
    Jumps,
    Monotone,
    Never,
    SameAs,
    Slopes,
    Sometimes,
    Symmetric,
    TreeProperty,
    Where,
)
from crisptree.verify.search import Search, meets, takes
from crisptree.verify.space import Undecided

IN_REALS = "; computed in real numbers, floats may be off in the last digits"


@dataclass(frozen=True)
class Asker:
    """A tree and the search that answers questions about it."""

    tree: CrispTree
    search: Search

    def ask(self, asked: TreeProperty, question: str) -> Answer:
        """The answer, or `undecided` with the reason."""
        answers: dict[type, Callable[[Any, str], Answer]] = {
            Never: self._never,
            Always: self._always,
            Sometimes: self._sometimes,
            Where: self._where,
            Bounded: self._bounded,
            SameAs: self._same,
            Symmetric: self._symmetric,
            Monotone: self._monotone,
            Jumps: lambda asked, question: jumps(self.tree, asked, question),
            Slopes: lambda asked, question: slopes(self.tree, asked, question),
        }
        try:
            answer = answers[type(asked)](asked, question)
            if answer.verdict == "holds" and answer.observation is None and self._empty(asked.when):
                return replace(answer, why="no observation meets the condition")
        except Undecided as reason:
            return Answer(question, "undecided", str(reason))
        return answer

    def _empty(self, when: Condition) -> bool:
        """Whether a condition is never met, so that everything holds under it."""
        return when is not ALWAYS and None is self.search.find(
            lambda space: [space.holds(when, space.point)], lambda x: meets(when, x)
        )

    def _never(self, asked: Never, question: str) -> Answer:
        name = self._names[asked.action]
        found = self._taken(asked.when, lambda action: action == asked.action)
        if found is None:
            why = f"no such observation leads to {name}"
            return Answer(question, "holds", why + self._in_reals)
        return Answer(question, "fails", f"this observation leads to {name}", tuple(found))

    def _always(self, asked: Always, question: str) -> Answer:
        name = self._names[asked.action]
        found = self._taken(asked.when, lambda action: action != asked.action)
        if found is None:
            why = f"every such observation leads to {name}"
            return Answer(question, "holds", why + self._in_reals)
        instead = self._said(takes(self.tree, found))
        return Answer(question, "fails", f"this observation leads to {instead}", tuple(found))

    def _sometimes(self, asked: Sometimes, question: str) -> Answer:
        name = self._names[asked.action]
        found = self._taken(asked.when, lambda action: action == asked.action)
        if found is None:
            why = f"no such observation leads to {name}"
            return Answer(question, "fails", why + self._in_reals)
        return Answer(question, "holds", f"this observation leads to {name}", tuple(found))

    def _taken(self, when: Condition, wanted: Callable[[Any], Any]) -> list[float] | None:
        """An observation that meets `when` and whose choice is as wanted."""
        return self.search.find(
            lambda space: [
                space.holds(when, space.point),
                wanted(space.action(self.tree, space.point)[0]),
            ],
            lambda x: meets(when, x) and bool(wanted(takes(self.tree, x)[0])),
        )

    def _bounded(self, asked: Bounded, question: str) -> Answer:
        found = self.search.find(
            lambda space: [
                space.holds(asked.when, space.point),
                z3.Not(space.holds_of(asked.actions, space.action(self.tree, space.point))),
            ],
            lambda x: meets(asked.when, x) and not self._is_so(asked.actions, x),
        )
        if found is None:
            why = "every such observation leads to an action that is so"
            return Answer(question, "holds", why + self._in_reals)
        why = f"this observation leads to {self._said(takes(self.tree, found))}"
        return Answer(question, "fails", why, tuple(found))

    def _is_so(self, condition: Condition, observation: list[float]) -> bool:
        return condition.holds([Fraction(value) for value in takes(self.tree, observation)])

    def _where(self, asked: Where, question: str) -> Answer:
        simple = self.tree.simplify()
        regions, example = [], None
        for rule in simple.rules():
            if rule.action != asked.action:
                continue
            found = self.search.find(
                lambda space, rule=rule: [
                    space.holds(asked.when, space.point),
                    space.within(simple, rule, space.point),
                ],
                lambda x, rule=rule: meets(asked.when, x) and rule.holds(simple.columns(x)),
            )
            if found is None:
                continue
            example = example or tuple(found)
            regions.append([_bounds(interval, simple) for interval in rule.conditions])
        name = self._names[asked.action]
        if not regions:
            why = f"no such observation leads to {name}"
            return Answer(question, "holds", why, None, {"regions": []})
        count = f"{len(regions)} region{'s' if len(regions) > 1 else ''}"
        why = f"{name} is taken in {count}"
        return Answer(question, "holds", why, example, {"regions": regions})

    def _same(self, asked: SameAs, question: str) -> Answer:
        other = asked.other
        found = self.search.find(
            lambda space: [
                space.holds(asked.when, space.point),
                _differ(space.action(self.tree, space.point), space.action(other, space.point)),
            ],
            lambda x: meets(asked.when, x) and takes(self.tree, x) != takes(other, x),
        )
        if found is None:
            why = "both take the same action for every such observation"
            return Answer(question, "holds", why + self._in_reals)
        first, second = self._said(takes(self.tree, found)), self._said(takes(other, found))
        why = f"for this observation the one takes {first}, the other {second}"
        return Answer(question, "fails", why, tuple(found))

    def _symmetric(self, asked: Symmetric, question: str) -> Answer:
        mirror, tree = asked.mirror, self.tree

        def image(x: list[float]) -> list[float]:
            pairs = zip(mirror.sign, mirror.source, strict=True)
            return [sign * x[at] + 0.0 for sign, at in pairs]

        def require(space: Any) -> list[Any]:
            behind = space.point.mirrored(mirror)
            here, there = space.action(tree, space.point)[0], space.action(tree, behind)[0]
            return [
                space.holds(asked.when, space.point),
                space.off_the_thresholds(tree, space.point),
                space.off_the_thresholds(tree, behind),
                space.other_than(here, there, mirror.actions),
            ]

        def shows(x: list[float]) -> bool:
            both = [tree.columns(y) for y in (x, image(x))]
            on = any(y[f] == t for y in both for f, t, _, _ in tree.nodes if f >= 0)
            moved = mirror.actions[int(takes(tree, x)[0])] != takes(tree, image(x))[0]
            return not on and meets(asked.when, x) and moved

        if tree.actions.kind != "discrete":
            raise Undecided(
                "symmetry is a question about policies that take one of several actions"
            )
        found = self.search.find(require, shows)
        if found is None:
            return Answer(question, "holds", "the mirror image of its action follows everywhere")
        here, there = takes(tree, found), takes(tree, image(found))
        why = (
            f"this observation leads to {self._said(here)}, its mirror image to "
            f"{self._said(there)} instead of {self._names[mirror.actions[int(here[0])]]}"
        )
        return Answer(question, "fails", why, tuple(found), {"mirrored": image(found)})

    def _monotone(self, asked: Monotone, question: str) -> Answer:
        tree, feature = self.tree, asked.feature

        def raised(x: list[float]) -> list[float]:
            return [*x[:feature], x[-1], *x[feature + 1 : -1]]

        def wrong(first: Any, second: Any) -> list[Any]:
            pairs = zip(first, second, strict=True)
            return [a < b if asked.decreasing else a > b for a, b in pairs]

        def require(space: Any) -> list[Any]:
            after = space.point.raised(feature)
            first, second = space.action(tree, space.point), space.action(tree, after)
            return [
                space.holds(asked.when, space.point),
                space.holds(asked.when, after),
                after.values[feature] > space.point.values[feature],
                z3.Or(wrong(first, second)),
            ]

        def shows(x: list[float]) -> bool:
            before, after = x[:-1], raised(x)
            met = meets(asked.when, before) and meets(asked.when, after)
            return (
                x[-1] > x[feature] and any(wrong(takes(tree, before), takes(tree, after))) and met
            )

        found = self.search.find(require, shows)
        way = "decreasing" if asked.decreasing else "increasing"
        name = printable(tree.feature_names[feature])
        if found is None:
            why = f"the action is {way} in {name} everywhere"
            return Answer(question, "holds", why + self._in_reals)
        first, second = (self._said(takes(tree, x)) for x in (found[:-1], raised(found)))
        why = f"here {first} is taken, and {second} with {name} raised to {found[-1]!r}"
        return Answer(question, "fails", why, tuple(found[:-1]), {"raised": raised(found)})

    @property
    def _in_reals(self) -> str:
        """What is to be said of sums, which floats round."""
        has_sums = len(self.tree.features) > self.tree.n_features
        return IN_REALS if self.tree.is_linear or has_sums else ""

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(f"“{printable(name)}”" for name in self.tree.action_names)

    def _said(self, action: tuple[int | float, ...]) -> str:
        """An action in words."""
        actions = self.tree.actions
        if actions.kind == "discrete":
            return self._names[int(action[0])]
        if actions.kind == "multi_discrete":
            chosen = zip(actions.names, actions.choices, action, strict=True)
            parts = [f"{printable(name)} “{printable(c[int(at)])}”" for name, c, at in chosen]
        else:
            pairs = zip(actions.names, action, strict=True)
            parts = [f"{printable(name)} = {value!r}" for name, value in pairs]
        return ", ".join(parts)


def _differ(one: list[Any], other: list[Any]) -> Any:
    return z3.Or([a != b for a, b in zip(one, other, strict=True)])


def _bounds(interval: Interval, tree: CrispTree) -> dict[str, Any]:
    feature, above, at_most = interval
    limit = float("inf")
    return {
        "feature": tree.feature_names[feature],
        "above": None if above == -limit else above,
        "at_most": None if at_most == limit else at_most,
    }
