"""From a property's parse tree to what is asked: one method a rule of the grammar."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from lark import Transformer, v_args

from crisptree.crisp import CrispTree
from crisptree.verify.conditions import (
    ALWAYS,
    Absolute,
    All,
    Compare,
    Condition,
    Feature,
    Not,
    Number,
    Scaled,
    Some,
    Sum,
    Term,
)
from crisptree.verify.grammar import Names
from crisptree.verify.properties import (
    Always,
    Bounded,
    Influences,
    InTheLoop,
    Jumps,
    Mirror,
    Monotone,
    Never,
    SameAs,
    Slopes,
    Sometimes,
    Symmetric,
    Where,
)

MOST_STEPS = 1_000_000
MOST_ABSOLUTES = 4
EVERY = -1
"""The feature `all` stands for until its comparison is read."""
SAME = {"==": "=", "≤": "<=", "≥": ">=", "≠": "!="}
UP, THE_GOAL, ANYWHERE, FOR_EVER, SETTLED = "up", "the goal", "reset", "for ever", "settled"


class WrongPropertyError(Exception):
    """A property that can be read but means nothing."""


class Reading(Transformer):
    """Names become numbers, words become properties."""

    def __init__(
        self, names: Names, tree: CrispTree | None, load: Callable[[str], CrispTree]
    ) -> None:
        super().__init__()
        self.names, self.tree, self.load = names, tree, load

    # Names and numbers.

    def _named(self, token: str, names: tuple[str, ...], what: str) -> int:
        text = str(token)
        if text[0] in "\"'":
            return names.index(text[1:-1])
        plain = " ".join(text.split())
        if plain in names:
            return names.index(plain)
        at = int(text[text.index("[") + 1 : text.index("]")])
        if at >= len(names):
            raise WrongPropertyError(f"the {what}s are numbered 0 … {len(names) - 1}")
        return at

    @v_args(inline=True)
    def feature(self, token: str) -> Feature:
        return Feature(self._named(token, self.names.features, "feature"))

    @v_args(inline=True)
    def output(self, token: str) -> Feature:
        return Feature(self._named(token, self.names.outputs, "part"))

    @v_args(inline=True)
    def action(self, token: str) -> int:
        return self._named(token, self.names.actions, "action")

    @v_args(inline=True)
    def acting(self, token: str) -> int:
        return self._named(token, self.names.acting, "disturbance")

    @v_args(inline=True)
    def number(self, token: str) -> Number:
        value = float(token)
        if value == float("inf"):
            raise WrongPropertyError("a number is larger than any float64")
        return Number(Fraction(value))

    @v_args(inline=True)
    def steps(self, number: Number) -> int:
        if number.value.denominator != 1 or not 1 <= number.value <= MOST_STEPS:
            raise WrongPropertyError(f"the steps must be a whole number in 1 … {MOST_STEPS:,}")
        return int(number.value)

    # Terms and conditions.

    def __default__(self, data: Any, children: list[Any], meta: Any) -> Any:
        """Rules made from templates have names with braces."""
        made = {"sum": self._sum, "product": self._product, "every": self._every, "any": self._any}
        return made[str(data).split("{")[0]](children)

    def _sum(self, parts: list[Any]) -> Term:
        terms = [parts[0]]
        for sign, term in zip(parts[1::2], parts[2::2], strict=True):
            terms.append(term if sign == "+" else Scaled(Fraction(-1), term))
        return Sum(tuple(terms))

    def _product(self, parts: list[Any]) -> Term:
        found = parts[0]
        for times, right in zip(parts[1::2], parts[2::2], strict=True):
            left_value, right_value = _value(found), _value(right)
            if times == "/":
                if not right_value:
                    raise WrongPropertyError("only a number other than zero can divide")
                found = Scaled(1 / right_value, found)
            elif left_value is not None:
                found = Scaled(left_value, right)
            elif right_value is not None:
                found = Scaled(right_value, found)
            else:
                raise WrongPropertyError(
                    "features cannot be multiplied with each other, only by numbers"
                )
        return found

    @v_args(inline=True)
    def signed(self, sign: str, term: Term) -> Term:
        return term if sign == "+" else Scaled(Fraction(-1), term)

    @v_args(inline=True)
    def absolute(self, term: Term) -> Term:
        return Absolute(term)

    def every_one(self, _: list[Any]) -> Term:
        return Feature(EVERY)

    def chain(self, parts: list[Any]) -> Condition:
        terms, signs = parts[::2], [SAME.get(sign, str(sign)) for sign in parts[1::2]]
        triples = zip(terms, signs, terms[1:], strict=False)
        links = tuple(Compare(left, sign, right) for left, sign, right in triples)
        if any(_absolutes(link.left) + _absolutes(link.right) > MOST_ABSOLUTES for link in links):
            raise WrongPropertyError(
                f"a comparison can have at most {MOST_ABSOLUTES} absolute values"
            )
        if any(map(_mentions_every, terms)):
            count = self.names.n_all or len(self.names.features)
            links = tuple(_instead(link, at) for at in range(count) for link in links)
        return links[0] if len(links) == 1 else All(links)

    def negated(self, parts: list[Any]) -> Condition:
        return Not(parts[0])

    def _every(self, parts: list[Any]) -> Condition:
        return All(tuple(parts))

    def _any(self, parts: list[Any]) -> Condition:
        return Some(tuple(parts))

    def condition(self, parts: list[Any]) -> Any:
        """A rule around one thing is that thing."""
        return parts[0]

    when = start = region = target = duration = condition

    # Questions about the tree.

    @v_args(inline=True)
    def never(self, action: int, when: Condition = ALWAYS) -> Never:
        return Never(action, when)

    @v_args(inline=True)
    def always(self, action: int, when: Condition = ALWAYS) -> Always:
        return Always(action, when)

    @v_args(inline=True)
    def sometimes(self, action: int, when: Condition = ALWAYS) -> Sometimes:
        return Sometimes(action, when)

    @v_args(inline=True)
    def where(self, action: int, when: Condition = ALWAYS) -> Where:
        return Where(action, when)

    @v_args(inline=True)
    def always_so(self, so: Condition, when: Condition = ALWAYS) -> Bounded:
        return Bounded(so, when)

    @v_args(inline=True)
    def never_so(self, so: Condition, when: Condition = ALWAYS) -> Bounded:
        return Bounded(Not(so), when)

    @v_args(inline=True)
    def jumps(self, most: Number, when: Condition = ALWAYS) -> Jumps:
        return Jumps(float(most.value), when)

    @v_args(inline=True)
    def slopes(self, most: Number, feature: Feature, when: Condition = ALWAYS) -> Slopes:
        return Slopes(float(most.value), feature.index, when)

    @v_args(inline=True)
    def increasing(self, feature: Feature, when: Condition = ALWAYS) -> Monotone:
        return Monotone(feature.index, False, when)

    @v_args(inline=True)
    def decreasing(self, feature: Feature, when: Condition = ALWAYS) -> Monotone:
        return Monotone(feature.index, True, when)

    @v_args(inline=True)
    def same_as(self, file: str, when: Condition = ALWAYS) -> SameAs:
        other, tree = self.load(str(file)[1:-1]), self.tree
        assert tree is not None
        if other.n_features != tree.n_features:
            raise WrongPropertyError(
                f"the other policy has {other.n_features} features, this one {tree.n_features}"
            )
        if (other.actions.kind, other.actions.choices) != (tree.actions.kind, tree.actions.choices):
            raise WrongPropertyError("the other policy has another kind of actions")
        if other.n_actions != tree.n_actions:
            raise WrongPropertyError(
                f"the other policy has {other.n_actions} actions, this one {tree.n_actions}"
            )
        return SameAs(other, when)

    def turned(self, parts: list[Feature]) -> tuple[Any, ...]:
        return "turned", [parts[0].index]

    def all_turned(self, _: list[Any]) -> tuple[Any, ...]:
        return "turned", list(range(len(self.names.features)))

    def features_exchanged(self, parts: list[Feature]) -> tuple[Any, ...]:
        return "feature", [part.index for part in parts]

    def actions_exchanged(self, parts: list[int]) -> tuple[Any, ...]:
        return "action", parts

    def symmetric(self, parts: list[Any]) -> Symmetric:
        images = [part for part in parts if isinstance(part, tuple)]
        when = next((part for part in parts if not isinstance(part, tuple)), ALWAYS)
        source = list(range(len(self.names.features)))
        sign, actions = [1] * len(source), list(range(len(self.names.actions)))
        for what, which in images:
            if what == "turned":
                for feature in which:
                    sign[feature] = -sign[feature]
                continue
            exchanged = source if what == "feature" else actions
            first, second = which
            if exchanged[first] != first or exchanged[second] != second:
                raise WrongPropertyError(f"a {what} is exchanged twice")
            exchanged[first], exchanged[second] = second, first
        if any(sign[at] != sign[source[at]] for at in range(len(source))):
            raise WrongPropertyError("of two exchanged features turn round both or neither")
        return Symmetric(Mirror(tuple(source), tuple(sign), tuple(actions)), when)

    # Questions about the closed loop.

    def anywhere(self, _: list[Any]) -> str:
        return ANYWHERE

    def going_on(self, _: list[Any]) -> str:
        return UP

    def the_goal(self, _: list[Any]) -> str:
        return THE_GOAL

    def for_ever(self, _: list[Any]) -> str:
        return FOR_EVER

    def settled(self, _: list[Any]) -> str:
        return SETTLED

    @v_args(inline=True)
    def stays(self, start: Any, region: Any, steps: Any, with_: Any = None) -> InTheLoop:
        return InTheLoop(
            "stays",
            None if start == ANYWHERE else start,
            None if region == UP else region,
            None if steps == FOR_EVER else steps,
            with_ or Influences(),
        )

    @v_args(inline=True)
    def reaches(self, start: Any, region: Any, steps: int, *rest: Any) -> InTheLoop:
        influences = [each for each in rest if isinstance(each, Influences)]
        return InTheLoop(
            "settles" if SETTLED in rest else "reaches",
            None if start == ANYWHERE else start,
            None if region == THE_GOAL else region,
            steps,
            influences[0] if influences else Influences(),
        )

    def noise(self, parts: list[Any]) -> tuple[str, float, int | None]:
        return "noise", float(parts[0].value), parts[1].index if len(parts) > 1 else None

    def disturbance(self, parts: list[Any]) -> tuple[str, float, int | None]:
        return "disturbance", float(parts[0].value), parts[1] if len(parts) > 1 else None

    def delay(self, _: list[Any]) -> tuple[str, float, int | None]:
        return "delay", 0.0, None

    def influences(self, parts: list[tuple[str, float, int | None]]) -> Influences:
        found: dict[str, dict[int, float]] = {"noise": {}, "disturbance": {}, "delay": {}}
        for what, size, at in parts:
            if what == "disturbance" and not self.names.acting:
                raise WrongPropertyError("nothing disturbs this plant")
            found[what][EVERY if at is None else at] = size
        delay = any(what == "delay" for what, _, _ in parts)
        return Influences(found["noise"], found["disturbance"], delay)


def _value(term: Term) -> Fraction | None:
    """The number a term is, if it mentions no feature."""
    if isinstance(term, Number):
        return term.value
    if isinstance(term, Scaled):
        inside = _value(term.term)
        return None if inside is None else term.factor * inside
    if isinstance(term, Sum):
        inside = [_value(part) for part in term.parts]
        return None if None in inside else sum(filter(None, inside), Fraction())
    return None


def _absolutes(term: Term) -> int:
    if isinstance(term, Sum):
        return sum(map(_absolutes, term.parts))
    if isinstance(term, Scaled | Absolute):
        return _absolutes(term.term) + isinstance(term, Absolute)
    return 0


def _mentions_every(term: Term) -> bool:
    if isinstance(term, Feature):
        return term.index == EVERY
    if isinstance(term, Sum):
        return any(map(_mentions_every, term.parts))
    return isinstance(term, Scaled | Absolute) and _mentions_every(term.term)


def _instead(compare: Compare, feature: int) -> Compare:
    """The comparison with a feature in the place of `all`."""

    def put(term: Term) -> Term:
        if isinstance(term, Feature):
            return Feature(feature) if term.index == EVERY else term
        if isinstance(term, Sum):
            return Sum(tuple(map(put, term.parts)))
        if isinstance(term, Scaled):
            return Scaled(term.factor, put(term.term))
        return Absolute(put(term.term)) if isinstance(term, Absolute) else term

    return Compare(put(compare.left), compare.operator, put(compare.right))
