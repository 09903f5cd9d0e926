"""Run a grid into a store: lock, run, store, until nothing is missing."""

import base64
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.cell import IMITATORS, LEARNERS, Cell
from crisptree.lab.experiments.cell_locks import CellLocks, locks_of
from crisptree.lab.experiments.grid import Grid, missing_cells, missing_imitators
from crisptree.lab.experiments.record import Record
from crisptree.lab.experiments.record_store import RecordStore
from crisptree.pipeline.config_io import PROCEDURE
from crisptree.pipeline.executor import Job, Message, run_jobs
from crisptree.pipeline.progress import Reporter

PAUSE = 2.0
"""Seconds between two looks at what other processes have done."""
MOST_LOG = 10_000
"""Characters kept of what a failed run has printed."""
JOB = "crisptree.lab.experiments.run_cell:run_job"


@dataclass
class Outcome:
    """What came of a grid."""

    ran: list[str] = field(default_factory=list)
    """Keys of the records that this process has added."""
    failed: dict[str, str] = field(default_factory=dict)
    """Why other runs have none, by key."""

    @property
    def count(self) -> int:
        return len(self.ran) + len(self.failed)


def run_grid(
    grid: Grid,
    store: RecordStore,
    report: Reporter,
    *,
    workers: int | None = None,
    executor: Literal["local", "ray"] = "local",
    job: str = JOB,
) -> Outcome:
    """Bring every run of the grid into the store. Whatever stops it, the next call goes on.

    Imitators come after the models that they learn from. `job` is what workers call.
    """
    check_teachers(grid, store)
    driver = _Driver(store, report, workers, executor, job)
    try:
        driver.clear_finished()
        for missing in (missing_cells, missing_imitators):
            driver.run_all(lambda missing=missing: missing(grid, store.records()))
    finally:
        driver.locks.close()
    return driver.outcome


class _Driver:
    """Runs cells that no other process runs, and stores the results."""

    def __init__(
        self,
        store: RecordStore,
        report: Reporter,
        workers: int | None,
        executor: Literal["local", "ray"],
        job: str,
    ) -> None:
        self._store, self._report, self._job = store, report, job
        self._workers = workers
        self._executor: Literal["local", "ray"] = executor
        self._running: dict[str, Cell] = {}
        self._expected = 0
        self.locks: CellLocks = locks_of(store)
        self.outcome = Outcome()

    def clear_finished(self) -> None:
        """Remove the working files of a process that was killed after it had stored a record."""
        for record in self._store.records():
            folder = self._store.work_folder / record.key
            if folder.exists() and self.locks.acquire(record.key):
                shutil.rmtree(folder, ignore_errors=True)
                self.locks.release(record.key)

    def run_all(self, missing: Callable[[], list[Cell]]) -> None:
        """Run what is missing; wait for what other processes run."""
        while cells := [cell for cell in missing() if cell.key not in self.outcome.failed]:
            before = self.outcome.count
            self._expected = before + len(cells)
            run_jobs(
                self._jobs(cells),
                workers=self._workers,
                executor=self._executor,
                on_message=self._on_message,
                is_enough=self._on_result,
                on_error=self._on_error,
            )
            if self.outcome.count == before:
                time.sleep(PAUSE)

    def _jobs(self, cells: list[Cell]) -> Iterator[Job]:
        """The job of each cell that no other process has run or runs."""
        for cell in cells:
            if not self.locks.acquire(cell.key):
                continue
            if self._store.record(cell.key) is not None:
                self.locks.release(cell.key)
                continue
            self._running[cell.key] = cell
            folder = self._store.work_folder / cell.key
            folder.mkdir(parents=True, exist_ok=True)
            yield Job(cell.key, self._job, self._arguments(cell), str(folder / "log.txt"))

    def _arguments(self, cell: Cell) -> dict[str, Any]:
        work, teacher = self._store.work_folder, None
        if cell.teacher is not None:
            record = self._store.record(cell.teacher.partition("#")[0])
            assert record is not None and record.config is not None
            agent = base64.b64encode(self._store.agent(cell.teacher)).decode()
            teacher = {"config": record.config["resolved"], "agent": agent}
        return {
            "cell": cell.to_dict(),
            "teacher": teacher,
            "folder": str(work / cell.key),
            "reuse": str(work / "stages"),
        }

    def _on_message(self, key: str, message: Message) -> None:
        if "advance" in message:
            stage, done, text = message["advance"]
            # One bar for each worker: which run it shows changes.
            place, name = list(self._running).index(key), self._running[key].name
            self._report.advance(f"{place + 1}/{name}", done, f"{stage}   {text}")

    def _on_result(self, key: str, answer: dict[str, Any]) -> bool:
        """Store a record. Returns False: the other jobs go on."""
        agents = {int(seed): base64.b64decode(each) for seed, each in answer["agents"].items()}
        record = Record.from_dict(answer["record"])
        self._store.put(record, agents)
        shutil.rmtree(self._store.work_folder / key, ignore_errors=True)
        self.outcome.ran.append(key)
        self._let_go(key, _in_a_line(record))
        return False

    def _on_error(self, key: str, why: str) -> None:
        cell, log = self._running[key], self._store.work_folder / key / "log.txt"
        printed = log.read_text(errors="replace")[-MOST_LOG:] if log.exists() else ""
        self._store.note_failure(cell, f"{why}\n\n{printed}")
        self.outcome.failed[key] = why
        self._let_go(key, f"{cell.name} failed: {why}")

    def _let_go(self, key: str, line: str) -> None:
        del self._running[key]
        self.locks.release(key)
        done, left = self.outcome.count, self._expected - self.outcome.count
        self._report.note(line)
        self._report.advance("all runs", done / max(1, done + left), f"{done} done, {left} left")


def _in_a_line(record: Record) -> str:
    """What a finished run earned."""
    parts = [f"{record.cell.name:<44} {record.seconds:7.1f} s"]
    for word, name in (("return", "soft_returns"), ("crisp", "crisp_returns")):
        every = [getattr(result, name) for result in record.seeds]
        known = [np.mean(returns) for returns in every if returns is not None]
        parts += [f"{word} {np.mean(known):.1f}"] if known else []
    return "   ".join(parts)


def check_teachers(grid: Grid, store: RecordStore) -> None:
    """Refuse before the work starts if imitators have no agent to learn from."""
    imitators = [model for model in grid.models if model in IMITATORS]
    if not imitators or any(model in LEARNERS for model in grid.models):
        return
    cells = [record.cell for record in store.records()]
    taught = {c.env for c in cells if c.model in LEARNERS and c.edition == PROCEDURE}
    for domain in grid.domains:
        if domain.env not in taught:
            raise CrisptreeError(
                f"{' and '.join(imitators)} imitate the best agent of {domain.env}, and "
                f"{store.url} has none: add soft-tree or mlp to --models"
            )
