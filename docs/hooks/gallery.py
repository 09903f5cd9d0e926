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
"""Larger trees have a page and no picture in the gallery."""
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
        wanted = [f"gallery/{each.name}.html"]
        if each.leaves <= MOST_DRAWN:
            wanted.append(f"gallery/{each.name}.svg")
        for name in wanted:
            path = folder / Path(name).name
            written(each, path)
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def written(exhibit: Exhibit, path: Path) -> None:
    """The drawing or page, as `crisptree show` makes it."""
    cli = importlib.import_module("crisptree.cli")
    policy = POLICIES / f"{exhibit.name}.json"
    words = ["show", str(policy), "--out", str(path)]
    if path.suffix == ".html":
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
    lines = [
        f"## {env}: {exhibit.size}",
        f"Return **{exhibit.score}** over 1,000 unseen episodes · [explore it]({page})",
    ]
    if exhibit.leaves <= MOST_DRAWN:
        picture = f"gallery/{exhibit.name}.svg"
        wide = " .wide" if exhibit.leaves > MOST_IN_A_COLUMN and "leaves" in exhibit.size else ""
        lines.append(f"[![{env}, {exhibit.size}]({picture})]({picture})\n{{: .drawing{wide}}}")
    lines.append(f"```\n{exhibit.command}\n```")
    return "\n\n".join(lines)
