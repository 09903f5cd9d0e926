"""`crisptree zoo`: many environments by one procedure, beside what one would compare with."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from crisptree.base.errors import CrisptreeError
from crisptree.commands.options import option

if TYPE_CHECKING:
    from crisptree.lab.zoo.entry import Entry
    from crisptree.lab.zoo.record import ZooStore


@dataclass(frozen=True)
class Command:
    """Train trees on the environments of the zoo with no setting but the leaf limit, and compare.

    Beside each tree: random play, the best constant action, a network, CART by VIPER from the same
    teacher, and the exact optimum where it can be computed. Every training is one record; what is
    there is not run again.
    """

    env: Annotated[tuple[str, ...], option("NAME ...")] = ()
    """Names, ids or suites to run (all unless given)."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Training seeds."""
    budget: float | None = None
    """Minutes for each training (those of `crisptree train` unless given)."""
    out: str = "runs/zoo"
    """A folder, or any URL that fsspec opens; what it has is not run again."""
    entries: Path | None = None
    """A JSON list of environments instead of the zoo's own; --env names those that import a
    module."""
    list: bool = False
    """Show what there is, and run nothing."""
    only_report: bool = False
    """Run nothing: report what the folder has, of any budget unless one is given."""
    page: Path | None = None
    """Write the table as a Markdown page to this file too."""
    json: bool = False
    """Print the results as JSON, and nothing else, on standard output."""

    def run(self) -> None:
        from crisptree.lab.zoo.entry import ENTRIES, check_named, chosen, load_entries

        entries = chosen(load_entries(self.entries or ENTRIES), self.env)
        if self.list:
            print(_listing(entries))
            return
        from crisptree.lab.zoo.record import ZooStore

        store = ZooStore(self.out)
        if not self.only_report:
            check_named(entries, self.env)
        failed = {} if self.only_report else self._run_all(entries, store)
        self._report(entries, store, failed)

    def _run_all(self, entries: "tuple[Entry, ...]", store: "ZooStore") -> dict[str, str]:
        from crisptree.lab.zoo.run_zoo import run_zoo
        from crisptree.learn.compilation_cache import enable_compilation_cache
        from crisptree.pipeline.progress import reporter

        enable_compilation_cache()
        try:
            with reporter() as report:
                return run_zoo(entries, self.seeds, self.budget, store, report)
        except KeyboardInterrupt:
            print("\nstopped; nothing is lost: the same command goes on", file=sys.stderr)
            sys.exit(130)

    def _report(
        self, entries: "tuple[Entry, ...]", store: "ZooStore", failed: dict[str, str]
    ) -> None:
        from crisptree.base.files import write_atomically
        from crisptree.base.text import aligned
        from crisptree.lab.zoo.report import (
            as_cells,
            as_csv,
            as_json,
            as_page,
            asked_records,
            rows_of,
        )

        any_budget = self.only_report and self.budget is None
        records = asked_records(store.records(), entries, self.seeds, self.budget, any_budget)
        if not records and not failed:
            raise CrisptreeError(f"{self.out} has no records of what is asked for")
        rows = rows_of(entries, records, failed)
        page = as_page(rows, self.seeds)
        for name, text in (
            ("zoo.json", as_json(rows)),
            ("zoo.csv", as_csv(rows)),
            ("zoo.md", page),
        ):
            store.files.write(store.files.path(name), text.encode())
        if self.page is not None:
            write_atomically(Path(self.page), page)
        print(as_json(rows) if self.json else aligned(as_cells(rows)))
        if failed and not self.json:
            print("\n".join(f"{name}: {why}" for name, why in failed.items()), file=sys.stderr)


def _listing(entries: "tuple[Entry, ...]") -> str:
    from crisptree.base.text import aligned

    rows = [["name", "suite", "environment", "leaves", "episodes"]]
    rows += [[e.name, e.suite, e.env, str(e.leaves), str(e.episodes)] for e in entries]
    return aligned(rows)
