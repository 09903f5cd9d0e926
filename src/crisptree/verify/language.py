"""The language of properties: text to data. `grammar.py` has its rules.

CONDITION: comparisons with < <= > >= = != of sums and multiples of features, |…| for absolute
values, joined by and, or, not and brackets; `0.1 < x <= 0.5` may be chained; `all` is every feature
at once. A name is written as it is or in quotes; x[2] and action[1] go by number. A number is read
as the float64 it is for Python.
"""

import re
from collections.abc import Callable
from typing import Any

from lark import Token, Transformer, UnexpectedInput
from lark.exceptions import VisitError

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable
from crisptree.crisp import CrispTree
from crisptree.verify.conditions import Condition
from crisptree.verify.grammar import Names, parser_for
from crisptree.verify.plants.plant import Plant
from crisptree.verify.properties import Property
from crisptree.verify.reading import Reading, WrongPropertyError

LONGEST = 4_000
MOST_BRACKETS = 60
FEW = 64

SAYS = {
    "FEATURE": "a feature",
    "ACTION": "an action",
    "OUTPUT": "a part of the action",
    "ACTING": "a disturbance",
    "NUMBER": "a number",
    "QUOTED": "a policy file in quotes",
    "COMPARE": "one of < <= > >= = !=",
    "$END": "the end",
    "_MIRROR": "'<->'",
    "COMMA": "','",
    "RPAR": "')'",
    "_BAR": "'|'",
}
LISTED = {"FEATURE": "features", "ACTION": "actions", "OUTPUT": "outputs", "ACTING": "acting"}
OPERATORS = {"SIGN", "TIMES", "LPAR", "ABS", "NOT", "ALL"}


class PropertyError(CrisptreeError):
    """A property that says nothing, or nothing about this tree."""


def parse(
    text: str,
    tree: CrispTree,
    plant: Plant | None = None,
    load: Callable[[str], CrispTree] = CrispTree.load,
) -> Property:
    """The property that `text` states about `tree`; `load` reads the files it names.

    What begins with `from` speaks of a plant's quantities, all else of the tree's features.
    """
    in_the_loop = re.match(r"\s*from\b", text) is not None
    is_discrete = tree.actions.kind == "discrete"
    names = Names(
        tree.feature_names[: tree.n_features],
        tree.action_names if is_discrete else (),
        () if is_discrete else tree.action_names,
    )
    if in_the_loop and plant is not None:
        acting, n_states = tuple(plant.disturbance), len(plant.states)
        names = names._replace(features=plant.quantities, acting=acting, n_all=n_states)
    return read(text, "property", names, Reading(names, tree, load))


def parse_condition(text: str, names: Names) -> Condition:
    """The condition that a text states about features."""
    return read(text, "condition", names, Reading(names, None, CrispTree.load))


def read(text: str, start: str, names: Names, reading: Transformer) -> Any:
    """What a text says, or one line about the word at fault."""
    if len(text) > LONGEST:
        raise PropertyError(f"a property has at most {LONGEST:,} characters")
    if len(re.findall(r"[(|]|\bnot\b|-\s*-", text)) > MOST_BRACKETS:
        raise PropertyError(f"in the property {quote(text)}: it has too many brackets")
    try:
        return reading.transform(parser_for(_mentioned(names, text)).parse(text, start=start))
    except UnexpectedInput as error:
        raise PropertyError(
            f"in the property {quote(text)}: {_fault(text, error, names)}"
        ) from None
    except (VisitError, WrongPropertyError) as error:
        cause = error.orig_exc if isinstance(error, VisitError) else error
        if not isinstance(cause, WrongPropertyError):
            raise cause from None
        raise PropertyError(f"in the property {quote(text)}: {cause}") from None


def _mentioned(names: Names, text: str) -> Names:
    """The names that a text may speak of: a grammar of thousands takes seconds to build."""
    line = " ".join(text.split())

    def kept(every: tuple[str, ...]) -> tuple[str, ...]:
        if len(every) <= FEW:
            return every
        return tuple(name for name in every if " ".join(name.split()) in line) or every[:1]

    return names._replace(features=kept(names.features), actions=kept(names.actions))


def quote(text: str) -> str:
    """The text on one line, not too long to read."""
    line = printable(" ".join(text.split()))
    return f"“{line if len(line) <= 120 else line[:119] + '…'}”"


def _fault(text: str, error: UnexpectedInput, names: Names) -> str:
    """What stands at the wrong place, and what would do there."""
    at = error.pos_in_stream if error.pos_in_stream is not None else len(text)
    token = getattr(error, "token", None)
    if isinstance(token, Token) and token.type == "$END":
        at = len(text)
    expected = set(error.interactive_parser.accepts())  # type: ignore[attr-defined]
    word = re.match(r"\s*(\"[^\"]*\"|'[^']*'|[^\W\d]\w*|\d[\w.]*|\S|$)", text[at:])
    found = word[1] if word and word[1] else ""
    there = f"'{printable(found)}'" if found else "the end"
    before = printable(text[:at].strip()[-30:])
    after = f" after '{before}'" if before else ""
    return f"expected {_expected(expected, names)};{after} there is {there}"


def _expected(terminals: set[str], names: Names) -> str:
    """What the grammar would take, in words: names first, with a few of them."""
    said = []
    for terminal in ("ACTION", "FEATURE", "OUTPUT", "ACTING"):
        listed = getattr(names, LISTED[terminal])
        if terminal in terminals and listed:
            few = ", ".join(map(printable, listed[:12])) + (", …" if len(listed) > 12 else "")
            said.append(f"{SAYS[terminal]}: {few}")
    rest = terminals - set(LISTED) - OPERATORS
    known = [SAYS[each] for each in SAYS if each in rest]
    words = sorted(each.lower() for each in rest if each not in SAYS and not each.startswith("_"))
    if not said:
        said = known + ([f"'{each}'" for each in words] if len(words) <= 16 else [])
    return " or ".join(said) or "something else"
