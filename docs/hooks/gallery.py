"""The gallery: every policy of policies/, drawn and made a page to explore while the site is built.

Names, figures and commands are read from the table in policies/README.md, so that they stand in one
place. Pages hold recorded episodes if the environment variable CRISPTREE_REPLAYS is set, which
takes minutes; `make docs` sets it.
"""

import contextlib
import importlib
import io
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
POLICIES = ROOT / "policies"
MARKER = "<!-- gallery -->"
MOST_DRAWN = 32
"""Larger trees are drawn down to a level that has at most so many ends."""
MOST_IN_A_COLUMN = 10
"""The drawings of trees with more leaves are wider than a column of text can show."""

_ROW = re.compile(
    r"^\| `(?P<file>[\w-]+)\.json` \| (?P<size>[^|]+) \| (?P<score>[^|]+) \| "
    r"`(?P<command>[^|`]+)`(?: \(config \w+\))? \|$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Exhibit:
    """One row of the table."""

    name: str
    size: str
    score: str
    command: str

    @property
    def env(self) -> str:
        return self.command.split()[2]

    @property
    def leaves(self) -> int:
        return int(self.name.rpartition("-")[2])


def exhibits() -> list[Exhibit]:
    text = (POLICIES / "README.md").read_text(encoding="utf-8")
    return [
        Exhibit(row["file"], row["size"].strip(), row["score"].strip(), row["command"])
        for row in _ROW.finditer(text)
    ]


def on_files(files: Any, *, config: Any) -> Any:
    """MkDocs calls this once: drawings and pages join the site's files."""
    folder = Path(tempfile.mkdtemp(prefix="crisptree-gallery-"))
    for each in exhibits():
        for name in (f"gallery/{each.name}.html", f"gallery/{each.name}.svg"):
            path = folder / Path(name).name
            written(each, path)
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def written(exhibit: Exhibit, path: Path) -> None:
    """The drawing, or the page as `crisptree show` makes it."""
    policy = POLICIES / f"{exhibit.name}.json"
    if path.suffix == ".svg":
        crisptree = importlib.import_module("crisptree")
        drawing = crisptree.as_svg(crisptree.CrispTree.load(policy), most_leaves=MOST_DRAWN)
        path.write_text(drawing, encoding="utf-8")
        return
    cli = importlib.import_module("crisptree.cli")
    words = ["show", str(policy), "--out", str(path)]
    words += ["--episodes", "2"] if "CRISPTREE_REPLAYS" in os.environ else ["--no-replay"]
    with contextlib.redirect_stdout(io.StringIO()):  # it says what it wrote
        cli.main(words)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """MkDocs calls this for every page."""
    if MARKER not in markdown:
        return markdown
    return markdown.replace(MARKER, "\n\n".join(map(as_markdown, exhibits())))


def as_markdown(exhibit: Exhibit) -> str:
    env, page = exhibit.env, f"gallery/{exhibit.name}.html"
    score, _, episodes = exhibit.score.rstrip(")").partition(" (")
    picture = f"gallery/{exhibit.name}.svg"
    wide = " .wide" if exhibit.leaves > MOST_IN_A_COLUMN and "leaves" in exhibit.size else ""
    upper = " The drawing shows its upper levels." if exhibit.leaves > MOST_DRAWN else ""
    parts = [
        f"## {env}: {exhibit.size}",
        f"Return **{score}** over {episodes or '1,000 episodes'} that training never saw · "
        f"[explore it]({page}).{upper}",
        f"[![{env}, {exhibit.size}]({picture})]({picture})\n{{: .drawing{wide}}}",
        f"```\n{exhibit.command}\n```",
    ]
    return "\n\n".join(parts)
