"""Names for programs made of names for people."""

import re
from collections.abc import Collection, Sequence

LONGEST = 48


def identifier(text: str) -> str:
    """A name made of ASCII letters, digits and single underscores; it may be empty."""
    letters = re.sub(r"[^A-Za-z0-9]+", "_", text)[:LONGEST].strip("_")
    return letters if not letters[:1].isdigit() else f"x{letters}"


def identifiers(
    names: Sequence[str], otherwise: str, reserved: Collection[str] = ()
) -> tuple[str, ...]:
    """An identifier for each name: distinct even if case is ignored, and none reserved. A name
    without letters becomes `otherwise` and its position."""
    taken = {word.lower() for word in reserved}
    found = []
    for at, name in enumerate(names):
        wanted = identifier(name).lower() or f"{otherwise}{at}"
        given, tries = wanted, 1
        while given in taken:
            tries += 1
            given = f"{wanted}_{tries}"
        taken.add(given)
        found.append(given)
    return tuple(found)
