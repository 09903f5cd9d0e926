"""The language of properties.

    never ACTION [when CONDITION]         always ACTION [when CONDITION]
    sometimes ACTION [when CONDITION]     where ACTION [when CONDITION]
    same as "FILE" [when CONDITION]
    symmetric under MIRROR [when CONDITION]
    increasing in FEATURE [when CONDITION]      decreasing in FEATURE [when CONDITION]
    from CONDITION stays up for N steps         from CONDITION stays CONDITION for N steps

CONDITION: comparisons with < <= > >= = != of sums and multiples of features, |…| for absolute
values, joined by and, or, not and brackets; `0.1 < x <= 0.5` may be chained; `all` is every feature
at once. MIRROR: a list of -FEATURE (turned round), -all, FEATURE <-> FEATURE and ACTION <-> ACTION
(exchanged). A name is written as it is or in quotes; x[2] and action[1] go by number. A number is
read as the float64 it is for Python.
"""

from collections.abc import Callable
from fractions import Fraction

from crisptree.crisp import CrispTree
from crisptree.verify.conditions import ALWAYS, Condition
from crisptree.verify.parser import Parser
from crisptree.verify.properties import (
    Always,
    Mirror,
    Monotone,
    Never,
    Property,
    SameAs,
    Sometimes,
    Stays,
    Symmetric,
    Where,
)

MOST_STEPS = 100_000

OF_AN_ACTION = {"never": Never, "always": Always, "sometimes": Sometimes, "where": Where}


def parse(
    text: str, tree: CrispTree, load: Callable[[str], CrispTree] = CrispTree.load
) -> Property:
    """The property that `text` states about `tree`; `load` reads the files it names."""
    read = Parser(text, tree.feature_names, tree.action_names)
    if read.word("from"):
        return _stays(read)
    for word, kind in OF_AN_ACTION.items():
        if read.word(word):
            return kind(read.action(), _when(read))
    if read.word("same"):
        read.expect("as")
        return SameAs(_other(read, tree, load), _when(read))
    if read.word("symmetric"):
        read.expect("under")
        return Symmetric(_mirror(read, tree), _when(read))
    for word in ("increasing", "decreasing"):
        if read.word(word):
            read.expect("in")
            return Monotone(read.feature(), word == "decreasing", _when(read))
    words = ", ".join([*OF_AN_ACTION, "same as", "symmetric under", "increasing in"])
    raise read.error(f"a property starts with {words}, decreasing in or from")


def _when(read: Parser) -> Condition:
    condition = read.condition() if read.word("when") else ALWAYS
    read.end("when CONDITION" if condition is ALWAYS else "and, or")
    return condition


def _other(read: Parser, tree: CrispTree, load: Callable[[str], CrispTree]) -> CrispTree:
    other = load(read.quoted("a policy file in quotes"))
    for what in ("feature_names", "action_names"):
        ours, theirs = getattr(tree, what), getattr(other, what)
        if len(ours) != len(theirs):
            raise read.error(
                f"the other policy has {len(theirs)} {what.replace('_', ' ')}, this one {len(ours)}"
            )
    return other


def _mirror(read: Parser, tree: CrispTree) -> Mirror:
    source, sign = list(range(tree.n_features)), [1] * tree.n_features
    actions = list(range(tree.n_actions))
    while True:
        if read.sign("-"):
            turned = range(tree.n_features) if read.word("all") else [read.feature()]
            for feature in turned:
                sign[feature] = -sign[feature]
        else:
            what, first = read.feature_or_action()
            read.expect_sign("<->")
            second = read.feature() if what == "feature" else read.action()
            exchanged = source if what == "feature" else actions
            if exchanged[first] != first or exchanged[second] != second:
                raise read.error(f"a {what} is exchanged twice")
            exchanged[first], exchanged[second] = second, first
        if not read.sign(","):
            break
    if any(sign[at] != sign[source[at]] for at in range(tree.n_features)):
        raise read.error("of two exchanged features turn round both or neither")
    return Mirror(tuple(source), tuple(sign), tuple(actions))


def _stays(read: Parser) -> Stays:
    start = read.condition()
    read.expect("stays")
    goal = None if read.word("up") else read.condition()
    read.expect("for")
    steps = read.number()
    if steps.denominator != 1 or not 1 <= steps <= MOST_STEPS:
        raise read.error(f"the steps must be a whole number in 1 … {MOST_STEPS}")
    if not read.word("steps"):
        read.expect("step")
    read.end("the end")
    return Stays(start, goal, int(Fraction(steps)))
