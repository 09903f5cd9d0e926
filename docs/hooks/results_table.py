"""The README's table of results, written from `docs/figures.json`.

`python docs/hooks/results_table.py` writes it anew; a test compares the two. A row says by which
edition it was measured, and has the hash of its configuration where the edition recorded one.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
MARKED = re.compile(r"(?<=<!-- results -->\n\n).*?(?=\n\n<!-- end of results -->)", re.DOTALL)


def table(rows: list[dict[str, str]]) -> str:
    """The rows as Markdown."""
    lines = [
        "| | the paper's crisp trees | crisptree | edition | command |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        edition = " ".join(
            [row["edition"], *(f"`{row[name]}`" for name in ["config"] if name in row)]
        )
        cells = [row["what"], row["paper"], row["crisptree"], edition, f"`{row['command']}`"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def written(page: str) -> str:
    """The page with the table as the figures have it."""
    figures = json.loads((ROOT / "docs" / "figures.json").read_text(encoding="utf-8"))
    return MARKED.sub(lambda _: table(figures["results"]), page)


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(written(readme.read_text(encoding="utf-8")), encoding="utf-8")
