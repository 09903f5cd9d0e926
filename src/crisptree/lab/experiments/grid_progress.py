"""What a grid says while it runs: bars on a terminal, one line for each run otherwise."""

import sys
from typing import Any

import numpy as np
from rich.progress import BarColumn, TextColumn

from crisptree.lab.experiments.cell import Cell
from crisptree.lab.experiments.record import Record
from crisptree.pipeline.progress import bars


class GridProgress:
    """One bar for all runs, and one for each that works. It goes to standard error."""

    def __init__(self, shown: Any) -> None:
        self._bars = shown
        self._all = shown.add_task("all runs", total=None, text="")
        self._each: dict[str, Any] = {}
        self._done = self._failed = self._left = 0

    def expect(self, count: int) -> None:
        """Say how many runs are left."""
        self._left = count
        self._update()

    def advance(self, cell: Cell, stage: str, done: float, text: str) -> None:
        if cell.key not in self._each:
            self._each[cell.key] = self._bars.add_task(cell.name, total=1.0, text="")
        self._bars.update(self._each[cell.key], completed=done, text=f"{stage}   {text}")

    def done(self, record: Record) -> None:
        self._done += 1
        self._end(record.cell)
        soft = [np.mean(s.soft_returns) for s in record.seeds if s.soft_returns is not None]
        crisp = [np.mean(s.crisp_returns) for s in record.seeds if s.crisp_returns is not None]
        parts = [f"{record.cell.name:<44} {record.seconds:7.1f} s"]
        parts += [f"return {np.mean(soft):.1f}"] if soft else []
        parts += [f"crisp {np.mean(crisp):.1f}"] if crisp else []
        self._note("   ".join(parts))

    def failed(self, cell: Cell, why: str) -> None:
        self._failed += 1
        self._end(cell)
        self._note(f"{cell.name} failed: {why}")

    def _end(self, cell: Cell) -> None:
        self._left -= 1
        if cell.key in self._each:
            self._bars.remove_task(self._each.pop(cell.key))
        self._update()

    def _update(self) -> None:
        ended = self._done + self._failed
        text = f"{self._done} done, {self._left} left"
        text += f", {self._failed} failed" if self._failed else ""
        self._bars.update(self._all, completed=ended, total=max(1, ended + self._left), text=text)

    def _note(self, text: str) -> None:
        self._bars.console.print(text, highlight=False, markup=False)


def grid_bars() -> Any:
    """The bars to give to a `GridProgress`, as a context."""
    shown = bars()
    shown.columns = (
        TextColumn("{task.description:<44}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[text]}"),
    )
    shown.disable = not sys.stderr.isatty()
    return shown
