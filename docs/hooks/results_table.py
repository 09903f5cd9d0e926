"""The tables of results, written from `docs/figures.json`.

`python docs/hooks/results_table.py` writes them anew; a test compares them with the file. The
README has the rows that this edition measured, docs/trust.md those of the first edition.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "docs" / "trust.md")
MARKED = re.compile(
    r"(?P<begin><!-- results of (?P<edition>[\d.]+) -->\n\n).*?(?=\n\n<!-- end of results -->)",
    re.DOTALL,
)


def table(rows: list[dict[str, str]]) -> str:
    """The rows as Markdown; the hash of a configuration stands below its command."""
    lines = ["| | the paper's crisp trees | crisptree | command |", "|---|---|---|---|"]
    for row in rows:
        config = f"<br>config `{row['config']}`" if "config" in row else ""
        cells = [row["what"], row["paper"], row["crisptree"], f"`{row['command']}`{config}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def written(page: str) -> str:
    """The page with its table as the figures have it."""
    rows = json.loads((ROOT / "docs" / "figures.json").read_text(encoding="utf-8"))["results"]

    def anew(found: re.Match[str]) -> str:
        own = [row for row in rows if row["edition"] == found["edition"]]
        return found["begin"] + table(own)

    return MARKED.sub(anew, page)


if __name__ == "__main__":
    for file in PAGES:
        file.write_text(written(file.read_text(encoding="utf-8")), encoding="utf-8")
