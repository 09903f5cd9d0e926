"""The grammar of properties, for the names of one tree and one plant.

Every name is a word of the grammar: the longest wins, and one that would be read as something else
stands in quotes.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from lark import Lark

RULES = r"""
?property: "same" "as" QUOTED when?                         -> same_as
    | "never" action when?                                  -> never
    | "always" action when?                                 -> always
    | "sometimes" action when?                              -> sometimes
    | "where" action when?                                  -> where
    | "never" any{output} when?                             -> never_so
    | "always"? any{output} when?                           -> always_so
    | "jumps" "at" "most" number when?                      -> jumps
    | "changes" "at" "most" number "per" feature when?      -> slopes
    | "symmetric" "under" image ("," image)* when?          -> symmetric
    | "increasing" "in" feature when?                       -> increasing
    | "decreasing" "in" feature when?                       -> decreasing
    | "from" start "stays" region duration influences?      -> stays
    | "from" start "reaches" target "within" steps settled? influences? -> reaches

condition: any{feature}
when: "when" any{feature}
start: "reset" -> anywhere | any{feature}
region: "up" -> going_on | any{feature}
target: "the" "goal" -> the_goal | any{feature}
settled: "and" "stays"
duration: "for" steps | "for" "ever" -> for_ever
steps: number ("steps" | "step")
influences: "with" influence ("," influence)*
influence: "noise" number ("on" feature)? -> noise
    | "disturbance" number ("on" acting)? -> disturbance
    | "delay" -> delay
image: "-" feature -> turned
    | "-" "all" -> all_turned
    | feature _MIRROR feature -> features_exchanged
    | action _MIRROR action -> actions_exchanged

?any{name}: every{name} ("or" every{name})*
?every{name}: unless{name} ("and" unless{name})*
?unless{name}: "not" unless{name} -> negated
    | "(" any{name} ")"
    | sum{name} (COMPARE sum{name})+ -> chain
?sum{name}: product{name} (SIGN product{name})*
?product{name}: factor{name} (TIMES factor{name})*
?factor{name}: SIGN factor{name} -> signed
    | _BAR sum{name} _BAR -> absolute
    | "abs" "(" sum{name} ")" -> absolute
    | "(" sum{name} ")"
    | "all" -> every_one
    | number
    | name

number: NUMBER
action: ACTION
feature: FEATURE
output: OUTPUT
acting: ACTING

COMPARE: "<=" | ">=" | "!=" | "==" | "=" | "<" | ">" | "≤" | "≥" | "≠"
SIGN: "+" | "-" | "−"
TIMES: "*" | "/" | "·"
_BAR: "|"
_MIRROR.9: "<->" | "↔"
NUMBER: /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/
QUOTED: /"[^"]*"|'[^']*'/
WORD: /[^\W\d]\w*/
%ignore /\s+/
"""

KEYWORDS = frozenset(re.findall(r'"([a-z]+)"', RULES))


class Names(NamedTuple):
    """What a property may speak of."""

    features: tuple[str, ...]
    actions: tuple[str, ...] = ()
    """Of a policy that takes one of several actions."""
    outputs: tuple[str, ...] = ()
    """Of a policy whose actions are several numbers."""
    acting: tuple[str, ...] = ()
    """Disturbances."""
    n_all: int = 0
    """How many features, counted from the first, `all` stands for; 0 for all of them."""


@lru_cache(maxsize=64)
def parser_for(names: Names) -> Lark:
    """A parser for properties with these names."""
    terminals = [
        _terminal("FEATURE", names.features, "x"),
        _terminal("ACTION", names.actions, "action"),
        _terminal("OUTPUT", names.outputs, "action"),
        _terminal("ACTING", names.acting, "disturbance"),
    ]
    without = [
        word
        for word, some in (("action", names.actions), ("any{output}", names.outputs))
        if not some
    ]
    lines = [
        line
        for line in RULES.splitlines()
        if not any(re.search(rf"\| .*\b{re.escape(word)}", line) for word in without)
    ]
    rules = "\n".join([*lines, *terminals])
    return Lark(rules, start=["property", "condition"], parser="lalr", lexer="contextual")


def _terminal(terminal: str, names: Sequence[str], counted: str) -> str:
    """A terminal for names as they are, in quotes, or by number."""
    plain = sorted({name for name in names if _is_plain(name)}, key=len, reverse=True)
    quoted = sorted(set(names), key=len, reverse=True)
    choices = [rf"{counted}\s*\[\s*\d+\s*\]"]
    choices += [r"\s+".join(map(_escaped, name.split())) + r"(?!\w)" for name in plain]
    choices += [f'"{_escaped(name)}"' for name in quoted]
    choices += [f"'{_escaped(name)}'" for name in quoted if "'" not in name]
    return f"{terminal}.5: /{'|'.join(choices)}/"


def _escaped(name: str) -> str:
    """The regular expression of a name, of ASCII letters, digits and backslashes only: names come
    from policy files, and nothing in them may become a part of the grammar."""
    return "".join(map(_escaped_character, name))


def _escaped_character(character: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_]", character):
        return character
    # Lark puts the character in the place of \U and leaves octal numbers to `re`.
    code = ord(character)
    return f"\\{code:03o}" if code < 256 else f"\\U{code:08x}"


def _is_plain(name: str) -> bool:
    """Whether a name can stand without quotes: no keyword, number or sign by itself."""
    return (
        name == " ".join(name.split())
        and name not in KEYWORDS
        and re.fullmatch(r"\w.*\w|\w", name) is not None
        and not re.fullmatch(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", name)
    )
