"""`crisptree show`: read a policy as text, as rules, as a drawing, as a page."""

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from crisptree.base.errors import CrisptreeError
from crisptree.base.extras import missing_extra
from crisptree.base.text import printable
from crisptree.commands.options import option, positional

if TYPE_CHECKING:
    from crisptree.crisp import CrispTree
    from crisptree.show.recording import Recording

Format = Literal["text", "rules", "svg", "html", "dot", "mermaid", "markdown", "png", "pdf"]


@dataclass(frozen=True)
class Command:
    """Read a policy: as text, rules, a drawing or a page to explore it."""

    policy: Annotated[str, positional("POLICY")]
    """The policy file, or the directory of a run."""
    format: Annotated[
        Format | None, option("text|rules|svg|html|dot|mermaid|markdown|png|pdf", name="as")
    ] = None
    """The format; by default the one of the suffix of --out, or text."""
    out: Annotated[str | None, option("FILE")] = None
    """A file to write instead of standard output."""
    decimals: Annotated[int | None, option("N")] = None
    """Digits after the point of a threshold; by default three significant ones, or more if needed.
    """
    env: str | None = None
    """For a page: the environment to play, if it is not the one that the file names."""
    features: str | None = None
    """For a page: `module:function` that computes the policy's features, if it uses one."""
    episodes: int = 3
    """For a page: how many episodes to record."""
    seed: int = 0
    """For a page: which reporting episodes to play; another seed plays other episodes."""
    replay: bool = True
    """Leave the recorded episodes out of the page."""

    def run(self) -> None:
        from crisptree.commands.shared import loaded, write_and_say
        from crisptree.show import FORMATS

        name = self._format()
        tree = loaded(self.policy)
        if name == "html":
            content = self._page(tree)
        else:
            content = FORMATS[name](tree, decimals=self.decimals)
        if self.out is None:
            written = content if isinstance(content, bytes) else content.encode("utf-8")
            sys.stdout.buffer.write(written)
            sys.stdout.flush()
        else:
            write_and_say(self.out, content)

    def _format(self) -> str:
        """The format asked for, by name or by the suffix of the file."""
        from crisptree.show import SUFFIXES

        if self.out is None:
            if self.format in ("png", "pdf"):
                raise CrisptreeError(f"--as {self.format} needs --out FILE")
            return self.format or "text"
        if self.format is not None:
            return self.format
        suffix = os.path.splitext(self.out)[1].lower()
        if suffix not in SUFFIXES:
            ends = f"ends in '{printable(suffix)}'" if suffix else "has no suffix"
            raise CrisptreeError(
                f"--out {printable(self.out)} {ends}; known are {', '.join(SUFFIXES)}, and "
                "--as FORMAT writes any file"
            )
        return SUFFIXES[suffix]

    def _page(self, tree: "CrispTree") -> str:
        from crisptree.show.html import NO_RECORDING, as_html, refuse_too_large

        if not 1 <= self.episodes <= 100:
            raise CrisptreeError(f"--episodes is {self.episodes}; it must lie in 1 … 100")
        refuse_too_large(tree)
        recording = self._recorded(tree) if self.replay else NO_RECORDING
        if recording.note and self.replay:
            print(printable(recording.note), file=sys.stderr)
        return as_html(tree, decimals=self.decimals, recording=recording)

    def _recorded(self, tree: "CrispTree") -> "Recording":
        """The recorded episodes, or a note why there are none.

        An environment that cannot be played is an error only if the user named it.
        """
        from crisptree.show.recording import Recording

        # Pictures need no window, and without one SDL would say so.
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
        from crisptree.commands.shared import playing

        try:
            from crisptree.envs.task import task_of_policy
            from crisptree.explain.recorder import record
        except ImportError as error:
            why = missing_extra(error, "playing an episode")
            if why is None or self.env is not None:
                raise
            return Recording(note=f"No replay: {why}.")
        try:
            with playing(self.env or tree.env_id):
                task = task_of_policy(tree, self.env, self.features)
                return record(tree, task, episodes=self.episodes, seed=self.seed)
        except CrisptreeError as error:
            if self.env is not None:
                raise
            return Recording(note=f"No replay: {error}.")
