"""Text that is printed: counts in words, and what a file holds made safe."""


def printable(text: str) -> str:
    """`text` with control and other invisible characters as escapes: a name can neither steer a
    terminal nor break a line."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def counted(count: int, one: str, many: str | None = None) -> str:
    """`1 rule`, `2 rules`, `1,000 leaves`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
