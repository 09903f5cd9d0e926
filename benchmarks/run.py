"""`make bench`: every benchmark in one run, as a table and in results.json.

Figures are ratios against a peer on the same machine in the same run; nothing here is a test.
"""

import importlib
import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

PARTS = ("training", "inference", "export", "domains")


def main() -> None:
    rows = []
    for part in PARTS:
        if (Path(__file__).parent / f"{part}.py").exists():
            rows += importlib.import_module(part).rows()
    table = Table("what", "ours", "peer", "ratio")
    for row in rows:
        table.add_row(*(str(row.get(key, "")) for key in ("name", "ours", "peer", "ratio")))
    Console().print(table)
    path = Path(__file__).parent / "results.json"
    path.write_text(json.dumps(rows, indent=2) + "\n")
    print(f"written: {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


if __name__ == "__main__":
    main()
