"""The documentation's pages and the fenced blocks in them.

A comment before a block says what the tests do with it:

    <!-- file: NAME -->         the block is a file the page speaks of; it is written
    <!-- test: skip, REASON --> it is not run
    <!-- test: REASON -->       an example of output that is not compared with the command's

A `text` block straight after a shell block is what the last command printed: each of its lines must
be in it.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))

_BLOCK = re.compile(
    r"(?:^<!-- (?P<note>[^\n]*) -->\n)?"
    r"^(?P<indent> *)```(?P<language>[^\n`]*)\n(?P<code>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    note: str
    line: int
    follows: bool
    """Whether nothing but space is between this block and the one before."""

    @property
    def file(self) -> str | None:
        return self.note.removeprefix("file: ") if self.note.startswith("file: ") else None

    @property
    def skipped(self) -> bool:
        return self.note.startswith("test: skip")

    @property
    def is_shell(self) -> bool:
        return self.language in ("", "sh")


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found, end = [], 0
    for match in _BLOCK.finditer(text):
        found.append(
            Block(
                match["language"].strip(),
                match["code"],
                match["note"] or "",
                text[: match.start()].count("\n") + 1,
                not text[end : match.start()].strip(),
            )
        )
        end = match.end()
    return found


def commands(code: str) -> list[str]:
    """The command lines of a shell block, continued lines joined, without comments."""
    lines = code.replace("\\\n", " ").splitlines()
    bare = (re.sub(r"(^|\s)#.*", "", line).strip().removeprefix("$ ") for line in lines)
    return [line for line in bare if line]
