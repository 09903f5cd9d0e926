"""Text from a file, made safe to print."""


def printable(text: str) -> str:
    """`text` with control and other invisible characters as escapes: a name can neither steer a
    terminal nor break a line."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
