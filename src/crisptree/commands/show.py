"""`crisptree show`: read a policy as text, as rules, as a drawing, as a page."""

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from crisptree.base.errors import CrisptreeError
from crisptree.commands.options import OptionalStr, optional

if TYPE_CHECKING:
    from crisptree.crisp import CrispTree
    from crisptree.show.replay import Replay

ENDINGS = {
    ".svg": "svg",
    ".html": "html",
    ".htm": "html",
    ".dot": "dot",
    ".gv": "dot",
    ".mmd": "mermaid",
    ".md": "markdown",
}


@dataclass(frozen=True)
class Command:
    """Read a policy: as text, rules, a drawing or a page to explore it."""

    policy: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="POLICY")]
    """The policy file."""
    way: Annotated[
        Literal["text", "rules", "svg", "html", "dot", "mermaid", "markdown"] | None,
        optional("text|rules|svg|html|dot|mermaid|markdown", name="as"),
    ] = None
    """How to write it; by default as the ending of --out says, or else as text."""
    out: Annotated[str | None, optional("FILE")] = None
    """A file to write instead of standard output."""
    decimals: Annotated[int | None, optional("N")] = None
    """Digits after the point of a threshold; by default three that count, or as many as it takes.
    """
    env: OptionalStr = None
    """For a page: the environment to play, where it is not the one in the file."""
    episodes: int = 3
    """For a page: how many episodes to record."""
    seed: int = 0
    """For a page: which reporting episodes; other seeds, other episodes."""
    replay: bool = True
    """A page comes with recorded episodes; --no-replay leaves them out."""

    def run(self) -> None:
        from crisptree.base.files import write_atomically
        from crisptree.commands.shared import loaded
        from crisptree.show import WAYS

        if self.decimals is not None and not 0 <= self.decimals <= 17:
            raise CrisptreeError(f"--decimals is {self.decimals}; it must lie in 0 … 17")
        tree = loaded(self.policy)
        ending = os.path.splitext(self.out or "")[1].lower()
        way = self.way or ENDINGS.get(ending, "text")
        written = self._page(tree) if way == "html" else WAYS[way](tree, decimals=self.decimals)
        if self.out is None:
            sys.stdout.buffer.write(written.encode("utf-8"))
            sys.stdout.flush()
        else:
            write_atomically(self.out, written)

    def _page(self, tree: "CrispTree") -> str:
        from crisptree.show.html import NO_REPLAY, as_html, refuse_too_large

        if not 1 <= self.episodes <= 100:
            raise CrisptreeError(f"--episodes is {self.episodes}; it must lie in 1 … 100")
        refuse_too_large(tree)
        replay = self._recorded(tree) if self.replay else NO_REPLAY
        if replay.note and self.replay:
            print(replay.note, file=sys.stderr)
        return as_html(tree, decimals=self.decimals, replay=replay)

    def _recorded(self, tree: "CrispTree") -> "Replay":
        """The episodes, or why there are none; only of an environment that was asked for by name
        is it a mistake if it cannot be played."""
        from crisptree.show.replay import Replay

        named = self.env or tree.env_id
        if named is None:
            return Replay(note="No replay: the policy names no environment; --env ENV would.")
        if self.env is None and ":" in named:
            return Replay(
                note=f"No replay: the policy's environment, {named}, would import a module, and a "
                f"file should not decide that; --env {named} would."
            )
        # Pictures need no window, and without one SDL would say so.
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
        from crisptree.explain.record import record

        try:
            return record(tree, named, episodes=self.episodes, seed=self.seed)
        except CrisptreeError as error:
            if self.env is not None:
                raise
            return Replay(note=f"No replay: {error}.")
