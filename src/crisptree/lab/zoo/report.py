"""The zoo as a table: in the terminal, as CSV and JSON, and as a page."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crisptree.envs.evaluate import digits
from crisptree.export.vectors import cell
from crisptree.lab.zoo.entry import Entry
from crisptree.lab.zoo.record import ZooRecord
from crisptree.pipeline.resolve import DEFAULT_BUDGET

PAGE, MARKER = Path(__file__).parent / "page.md", "<!-- tables -->"
MODELS = ("random", "constant", "network", "cart", "crisptree")
TREES = ("cart", "crisptree")
"""Columns whose figures are given with as many digits as it takes to tell them apart."""
HEADS = (
    "environment",
    "random",
    "best constant",
    "network",
    "CART (VIPER)",
    "crisptree",
    "optimum",
    "leaves",
    "minutes",
)


@dataclass(frozen=True)
class Row:
    """One environment: the means of its seeds, or why there are none."""

    entry: Entry
    seeds: tuple[int, ...]
    means: Mapping[str, tuple[float, ...]]
    """One mean return a seed, by model; exact where the environment carries its model."""
    leaves: tuple[int, ...]
    cart_leaves: tuple[int, ...]
    optimum: float | None
    minutes: tuple[float, ...]
    budgets: tuple[float, ...]
    """Minutes that there were for each."""
    networks: tuple[str, ...]
    note: str = ""

    @property
    def cells(self) -> list[str]:
        """As a table shows it; the seeds of crisptree one by one."""
        if not self.seeds:
            return [self.entry.name, *[""] * (len(HEADS) - 2), self.note]
        spread = [*self.means.get("crisptree", ()), *self.means.get("cart", ())]
        fine = digits([*spread, *([] if self.optimum is None else [self.optimum])])
        rough = lambda value: f"{value:.4g}"
        shown = {
            name: _mean(values, fine if name in TREES else rough)
            for name, values in self.means.items()
        }
        if self.entry.reference is not None:
            beside = self.entry.reference
            shown["network"] += f" ({beside.source}: {beside.value:g})"
        every = self.means["crisptree"]
        if len(every) > 1:
            shown["crisptree"] += f" ({', '.join(map(fine, every))})"
        best = "" if self.optimum is None else fine(self.optimum)
        return [
            self.entry.name,
            *(shown.get(name, "") for name in MODELS),
            best,
            f"{_range(self.leaves)} of {self.entry.leaves}",
            f"{np.mean(self.minutes):.1f} of {_range(self.budgets)}",
        ]

    def to_dict(self) -> dict[str, Any]:
        return {
            "environment": self.entry.name,
            "suite": self.entry.suite,
            "env": self.entry.env,
            "kwargs": self.entry.kwargs,
            "features": self.entry.features,
            "leaf_limit": self.entry.leaves,
            "episodes": self.entry.episodes,
            "seeds": list(self.seeds),
            **{name: list(self.means.get(name, ())) for name in MODELS},
            "leaves": list(self.leaves),
            "cart_leaves": list(self.cart_leaves),
            "networks": list(self.networks),
            "optimum": self.optimum,
            "reference": None if self.entry.reference is None else vars(self.entry.reference),
            "minutes": list(self.minutes),
            "budgets": list(self.budgets),
            "note": self.note,
        }


def _mean(values: Sequence[float], fine: Any) -> str:
    return fine(float(np.mean(values))) if values else ""


def _range(values: Sequence[int] | Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g}–{high:g}"


def asked_records(
    records: Iterable[ZooRecord],
    entries: Iterable[Entry],
    seeds: Sequence[int],
    budget: float | None,
    any_budget: bool = False,
) -> list[ZooRecord]:
    """The records of these entries, seeds and budget, or of `any_budget`: those of today's
    configuration, else older ones."""
    by_name = {entry.name: entry for entry in entries}
    found: dict[tuple[str, int], ZooRecord] = {}
    for record in records:
        entry = by_name.get(record.name)
        if entry is None or record.seed not in seeds:
            continue
        if record.budget != budget and not any_budget:
            continue
        is_todays = record.key == entry.key(entry.config(record.seed, record.budget))
        if is_todays or (record.name, record.seed) not in found:
            found[record.name, record.seed] = record
    return list(found.values())


def rows_of(
    entries: Iterable[Entry], records: Iterable[ZooRecord], notes: Mapping[str, str]
) -> list[Row]:
    """A row for each entry, its seeds in order."""
    every = list(records)
    return [
        _row(entry, [each for each in every if each.name == entry.name], notes.get(entry.name, ""))
        for entry in entries
    ]


def _row(entry: Entry, records: Sequence[ZooRecord], note: str) -> Row:
    ordered = sorted(records, key=lambda record: record.seed)
    means: dict[str, tuple[float, ...]] = {}
    for name in MODELS:
        found = [each.figures[name] for each in ordered if name in each.figures]
        if found:
            means[name] = tuple(f.mean if f.exact is None else f.exact for f in found)
    return Row(
        entry,
        tuple(record.seed for record in ordered),
        means,
        tuple(record.figures["crisptree"].leaves or 0 for record in ordered),
        tuple(record.figures["cart"].leaves or 0 for record in ordered),
        ordered[0].optimum if ordered else None,
        tuple(round(record.seconds["training"] / 60, 2) for record in ordered),
        tuple(record.budget or DEFAULT_BUDGET for record in ordered),
        tuple(record.figures["network"].kind for record in ordered),
        note,
    )


def as_cells(rows: Sequence[Row]) -> list[list[str]]:
    return [list(HEADS), *(row.cells for row in rows)]


def as_json(rows: Sequence[Row]) -> str:
    return json.dumps([row.to_dict() for row in rows], indent=1) + "\n"


def as_csv(rows: Sequence[Row]) -> str:
    """One line for each environment and seed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = ["environment", "suite", "seed", *MODELS, "optimum", "leaves", "leaf limit", "minutes"]
    writer.writerow(heads)
    for row in rows:
        for at, seed in enumerate(row.seeds):
            figures = [
                row.means[name][at] if at < len(row.means.get(name, ())) else "" for name in MODELS
            ]
            last = [row.optimum, row.leaves[at], row.entry.leaves, row.minutes[at]]
            writer.writerow([cell(row.entry.name), cell(row.entry.suite), seed, *figures, *last])
    return out.getvalue()


def as_page(rows: Sequence[Row], seeds: Sequence[int]) -> str:
    """The page of the site: what was asked for, and a table for each suite that has figures."""
    shown = [row for row in rows if row.seeds or row.note]
    parts = [
        f"Figures of {len(shown)} of {len(rows)} environments; training "
        f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}. What is missing "
        "was not run yet.",
        "",
    ]
    for suite in dict.fromkeys(row.entry.suite for row in shown):
        parts += [f"## {suite[0].upper()}{suite[1:]}", ""]
        parts += ["| " + " | ".join(HEADS) + " |", "|---" * len(HEADS) + "|"]
        parts += ["| " + " | ".join(row.cells) + " |" for row in shown if row.entry.suite == suite]
        parts.append("")
    page = PAGE.read_text(encoding="utf-8")
    return page.replace(MARKER, "\n".join(parts).rstrip())
