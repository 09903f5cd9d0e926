"""`crisptree show`: read a policy as text, as rules, as a drawing."""

import os
import sys
from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from crisptree.errors import CrisptreeError

ENDINGS = {".svg": "svg", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".md": "markdown"}


@dataclass(frozen=True)
class Command:
    """Read a policy: as text, rules or a drawing."""

    policy: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="POLICY")]
    """The policy file."""
    way: Annotated[
        Literal["text", "rules", "svg", "dot", "mermaid", "markdown"] | None,
        tyro.conf.arg(name="as", metavar="text|rules|svg|dot|mermaid|markdown"),
    ] = None
    """How to write it; by default as the ending of --out says, or else as text."""
    out: Annotated[str | None, tyro.conf.arg(metavar="FILE")] = None
    """A file to write instead of standard output."""
    decimals: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Digits after the point of a threshold; by default three that count, or as many as it takes.
    """

    def run(self) -> None:
        from crisptree.crisp import CrispTree
        from crisptree.crisp.atomic import write_atomically
        from crisptree.show import WAYS

        if self.decimals is not None and not 0 <= self.decimals <= 17:
            raise CrisptreeError(f"--decimals is {self.decimals}; it must lie in 0 … 17")
        tree = CrispTree.load(self.policy)
        ending = os.path.splitext(self.out or "")[1].lower()
        written = WAYS[self.way or ENDINGS.get(ending, "text")](tree, decimals=self.decimals)
        if self.out is None:
            sys.stdout.buffer.write(written.encode("utf-8"))
            sys.stdout.flush()
        else:
            write_atomically(self.out, written)
