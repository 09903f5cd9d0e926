"""What a campaign says while it works: bars on a terminal, a line a run otherwise."""

import json
import sys
from collections.abc import Mapping

import numpy as np
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as Bars

from crisptree.lab.experiments.record import Record
from crisptree.lab.experiments.worker import Job
from crisptree.pipeline.report import bars


class Progress:
    """One bar for all, and one for each run that works on this machine. Goes to standard error."""

    def __init__(self, shown: Bars) -> None:
        self._bars = shown
        self._all = shown.add_task("all runs", total=None, text="")
        self._each: dict[str, TaskID] = {}

    def show(self, waiting: int, running: Mapping[str, Job], ran: int, failed: int) -> None:
        told = f"{ran} done, {len(running)} running, {waiting} known to wait"
        told += f", {failed} failed" if failed else ""
        total = max(1, ran + len(running) + waiting + failed)
        self._bars.update(self._all, completed=ran + failed, total=total, text=told)
        for key in set(self._each) - set(running):
            self._bars.remove_task(self._each.pop(key))
        for key, job in running.items():
            done, text = _status(job)
            if key not in self._each:
                self._each[key] = self._bars.add_task(job.cell.name, total=1.0, text="")
            self._bars.update(self._each[key], completed=done, text=text)

    def note(self, text: str) -> None:
        self._bars.console.print(text, highlight=False)

    def note_record(self, record: Record) -> None:
        soft = [np.mean(s.soft_returns) for s in record.seeds if s.soft_returns is not None]
        crisp = [np.mean(s.crisp_returns) for s in record.seeds if s.crisp_returns is not None]
        parts = [f"{record.cell.name:<44} {record.seconds:7.1f} s"]
        parts += [f"return {np.mean(soft):.1f}"] if soft else []
        parts += [f"crisp {np.mean(crisp):.1f}"] if crisp else []
        self.note("   ".join(parts))


def progress_bars() -> Bars:
    shown = bars()
    shown.columns = (
        TextColumn("{task.description:<44}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[text]}"),
    )
    shown.disable = not sys.stderr.isatty()
    return shown


def _status(job: Job) -> tuple[float, str]:
    """What a run on this machine says of itself."""
    try:
        status = json.loads((job.folder / "status.json").read_text())
        return float(status["done"]), f"{status['stage']}   {status['text']}"
    except (OSError, ValueError, KeyError):
        return 0.0, ""
