"""A command's whole way: check, run the grid, report, and tell what came out."""

import json
import shlex
import sys
from typing import TYPE_CHECKING

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.options import Told, Where, backend_for, check_packages
from crisptree.lab.experiments.plan import Grid

if TYPE_CHECKING:
    from crisptree.lab.experiments.campaign import Ended
    from crisptree.lab.experiments.store import Store


def conduct(title: str, grid: Grid, where: Where, told: Told, default_out: str) -> None:
    """Run what is missing in the store, and write the report of all that was asked for."""
    check_packages(where)
    from crisptree.lab.experiments.campaign import Ended
    from crisptree.lab.experiments.report import make_report, write_report
    from crisptree.lab.experiments.store import Store
    from crisptree.lab.experiments.table import as_text

    store = Store(told.out or default_out)
    ended = Ended((), {}) if told.only_report else _run(grid, store, where)
    command = shlex.join(["crisptree", *sys.argv[1:]])
    report = make_report(title, command, grid, store)
    if len(report.main) == 1 and not ended.failed:
        raise CrisptreeError(f"{store.url} has no records of what is asked for")
    write_report(report, store)
    if told.json:
        print(json.dumps({"out": store.url, "ran": len(ended.ran), **report.results}))
    else:
        verdicts = [section.verdict for section in report.sections if section.verdict]
        lines = [as_text(report.main), "", *verdicts, f"all of it: {store.url}/report.html"]
        print("\n".join(lines))
    if ended.failed:
        key, why = next(iter(ended.failed.items()))
        raise CrisptreeError(
            f"{len(ended.failed)} runs failed, the first ({key}) with: {why}; {store.url}/failed "
            "says more, and the same command tries them again"
        )


def _run(grid: Grid, store: "Store", where: Where) -> "Ended":
    from crisptree.lab.experiments.campaign import run_grid
    from crisptree.lab.experiments.progress import Progress, progress_bars

    backend = backend_for(where)
    try:
        with progress_bars() as bars:
            return run_grid(grid, store, backend, Progress(bars))
    except KeyboardInterrupt:
        print("\nstopped; nothing is lost: the same command goes on", file=sys.stderr)
        sys.exit(130)
