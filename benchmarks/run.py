"""`make bench`: every benchmark in one run, as a table and in results.json.

Figures are ratios against a peer on the same machine in the same run, in turns; nothing here is a
test. `--quick` takes fewer and shorter rounds, `--only NAME …` some of the parts; `--docs` measures
nothing and writes what results.json has into docs/speed.md.
"""

import argparse
import importlib
import json
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

PARTS = ("training", "lander", "solve", "inference", "export", "domains")
COLUMNS = ("name", "unit", "ours", "peer", "ratio", "spread", "bar", "compile_seconds", "peak_mb")


def shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        return " … ".join(shown(each) for each in value)
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table_of(rows: list[dict[str, Any]]) -> Table:
    heads = ("what", "unit", "ours", "peer", "ratio", "rounds", "bar", "compile s", "peak MB")
    table = Table(*heads)
    for row in rows:
        cells = [shown(row.get(key, "")) for key in COLUMNS]
        if "note" in row:
            cells[0] += f" ({row['note']})"
        table.add_row(*cells)
    return table


def markdown(rows: list[dict[str, Any]]) -> str:
    heads = ["what", "ours", "peer", "unit", "ratio", "rounds", "bar"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in rows:
        note = f" ({row['note']})" if "note" in row else ""
        keys = ("ours", "peer", "unit", "ratio", "spread", "bar")
        cells = [row["name"] + note, *(shown(row.get(key, "")) for key in keys)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write_docs(rows: list[dict[str, Any]]) -> None:
    page = Path(__file__).parents[1] / "docs" / "speed.md"
    before, rest = page.read_text().split("<!-- figures -->\n")
    _, after = rest.split("<!-- end of figures -->")
    figures = f"<!-- figures -->\n{markdown(rows)}\n<!-- end of figures -->"
    page.write_text(before + figures + after)


def main() -> None:
    parser = argparse.ArgumentParser(description="Our speed beside the peers'.")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="NAME")
    parser.add_argument("--docs", action="store_true", help="no measuring: fill docs/speed.md")
    chosen = parser.parse_args()
    path = Path(__file__).parent / "results.json"
    if chosen.docs:
        write_docs(json.loads(path.read_text()))
        return
    rows: list[dict[str, Any]] = []
    for part in chosen.only:
        began = time.perf_counter()
        found = importlib.import_module(part).rows(chosen.quick)
        rows += [{"part": part, "quick": chosen.quick, **row} for row in found]
        print(f"{part}: {time.perf_counter() - began:.0f} s", flush=True)
    if path.exists():
        rows += [row for row in json.loads(path.read_text()) if row.get("part") not in chosen.only]
    Console(width=160).print(table_of(rows))
    path.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    print(f"written: {path}")


if __name__ == "__main__":
    main()
