"""Text that is printed: made safe, in columns, with counts."""

from collections.abc import Sequence


def printable(text: str) -> str:
    """`text` with control and other invisible characters as escapes: a name can neither steer a
    terminal nor break a line."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def aligned(rows: Sequence[Sequence[str]], *, ruled: bool = False) -> str:
    """The rows as columns for a terminal, made printable; `ruled`: with a rule below the head."""
    safe = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in safe) for at in range(len(safe[0]))]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in safe]
    rule = ["  ".join("-" * width for width in widths)] if ruled else []
    return "\n".join([lines[0], *rule, *lines[1:]])


def counted(count: int, one: str, many: str | None = None) -> str:
    """`1 rule`, `2 rules`, `1,000 leaves`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
