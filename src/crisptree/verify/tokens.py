"""A property's text cut into tokens. Names of features and actions may be written as they are,
blanks included; in quotes where they would be read as something else."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from crisptree.base.errors import CrisptreeError

# fmt: off
KEYWORDS = frozenset((
    "never", "always", "sometimes", "where", "when", "same", "as", "symmetric", "under", "in",
    "increasing", "decreasing", "from", "stays", "up", "for", "steps", "step", "and", "or", "not",
    "abs", "all",
))
# fmt: on
LONGEST = 10_000

NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
WORD = re.compile(r"[^\W\d]\w*")
QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
SIGN = re.compile(r"<->|<=|>=|!=|==|[<>=+\-*/()|\[\],]")
SAME_SIGN = {"==": "=", "≤": "<=", "≥": ">=", "≠": "!=", "−": "-", "·": "*", "↔": "<->"}


class Token(NamedTuple):
    kind: str
    """number, name (known), quoted, word, sign or end."""
    text: str
    at: int
    """Where it starts in the text."""


class PropertyError(CrisptreeError):
    """A property that says nothing, or nothing about this tree."""


def tokens(text: str, names: Iterable[str]) -> list[Token]:
    """The tokens of `text`; the longest known name wins over everything but quotes."""
    if len(text) > LONGEST:
        raise PropertyError(f"a property has at most {LONGEST:,} characters")
    known = _names(names)
    found: list[Token] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token = _token(text, at, known)
        if token is None:
            raise PropertyError(f"in the property {quote(text)}: {text[at]!r} means nothing here")
        kind, content, end = token
        found.append(Token(kind, content, at))
        at = end
    return [*found, Token("end", "", len(text))]


def quote(text: str) -> str:
    """The text on one line, not too long to read."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= 120 else line[:119] + '…'}”"


def _token(text: str, at: int, known: re.Pattern[str] | None) -> tuple[str, str, int] | None:
    if text[at] in SAME_SIGN:
        return "sign", SAME_SIGN[text[at]], at + 1
    for kind, pattern in (
        ("quoted", QUOTED),
        ("name", known),
        ("number", NUMBER),
        ("word", WORD),
        ("sign", SIGN),
    ):
        match = pattern.match(text, at) if pattern else None
        if match:
            content = match[0]
            if kind == "quoted":
                content = match[1] if match[1] is not None else match[2]
            elif kind == "name":
                content = " ".join(content.split())
            return kind, SAME_SIGN.get(content, content), match.end()
    return None


def _names(names: Iterable[str]) -> re.Pattern[str] | None:
    """The names that can stand without quotes: not a keyword, a number or a sign by themselves."""
    plain = sorted(
        {
            name
            for name in names
            if name == " ".join(name.split())
            and name not in KEYWORDS
            and re.fullmatch(r"\w.*\w|\w", name)
            and not NUMBER.fullmatch(name)
        },
        key=len,
        reverse=True,
    )
    if not plain:
        return None
    spaced = (r"\s+".join(map(re.escape, name.split())) for name in plain)
    return re.compile(rf"(?:{'|'.join(spaced)})(?!\w)")
