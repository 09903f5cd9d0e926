"""The table of fault cases: each suite appends how many cases of a kind it tried and how many
failed. `make faults` shows it, and docs/reliability.md has a copy."""

import json
import os
from pathlib import Path


def table_path() -> Path:
    """The file: faults.jsonl in the directory that CRISPTREE_FAULTS_TABLE names, else in runs."""
    return Path(os.environ.get("CRISPTREE_FAULTS_TABLE", "runs")) / "faults.jsonl"


def append_row(suite: str, kind: str, tried: int, failed: int) -> None:
    """Append a row, and print it."""
    path = table_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    row = {"suite": suite, "kind": kind, "tried": tried, "failed": failed}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(f"{suite}: {kind}: {tried} tried, {failed} failed", flush=True)
