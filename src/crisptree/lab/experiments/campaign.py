"""Run a grid into a store: claim, submit, gather, until nothing is left."""

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.backend import Backend, Outcome
from crisptree.lab.experiments.cell import IMITATORS, LEARNERS, Cell
from crisptree.lab.experiments.claims import Claims
from crisptree.lab.experiments.domains import slug
from crisptree.lab.experiments.plan import Grid, wanted
from crisptree.lab.experiments.progress import Progress
from crisptree.lab.experiments.store import Store
from crisptree.lab.experiments.worker import Job, clear

PAUSE = 0.5
"""Seconds between two looks at what runs."""


@dataclass(frozen=True)
class Ended:
    """How a campaign ended."""

    ran: tuple[str, ...]
    """Keys of the runs that this process has added."""
    failed: dict[str, str]
    """Why others have none: key and last line."""


def run_grid(grid: Grid, store: Store, backend: Backend, progress: Progress) -> Ended:
    """Bring every run of the grid into the store. Whatever stops it, the next call goes on."""
    claims, running = Claims(store), dict[str, Job]()
    ran: list[str] = []
    failed: dict[str, str] = {}
    try:
        check_teachers(grid, store)
        _sweep(store, claims)
        while True:
            cells = wanted(grid, store.records(), failed)
            waiting = [cell for cell in cells if cell.key not in running]
            for cell in waiting:
                if backend.room < 1:
                    break
                if (job := _claimed(cell, store, claims)) is not None:
                    running[cell.key] = job
                    backend.submit(job)
            progress.show(len(waiting), running, len(ran), len(failed))
            if not cells and not running:
                return Ended(tuple(ran), failed)
            if not running:  # all that is left is in other processes' hands
                time.sleep(4 * PAUSE)
            for outcome in backend.wait(PAUSE):
                job = running.pop(outcome.job.cell.key)
                _gather(outcome, store, ran, failed, progress)
                claims.release(job.cell)
    finally:
        backend.close()
        claims.close()


def _sweep(store: Store, claims: Claims) -> None:
    """Clear away what a process has left that was killed right after it wrote a record."""
    for record in store.records():
        if claims.take_dead(record.cell):
            clear(work_folder(store) / record.cell.key)
            claims.release(record.cell)


def _claimed(cell: Cell, store: Store, claims: Claims) -> Job | None:
    """The job of a cell that nobody else has run or runs."""
    if not claims.take(cell):
        return None
    if store.record(cell) is not None:
        claims.release(cell)
        return None
    teacher = None
    if cell.teacher is not None:
        key = cell.teacher.partition("#")[0]
        of_teacher = next(record for record in store.records() if record.cell.key == key)
        teacher = (of_teacher.cell, store.agent(cell.teacher))
    return Job(cell, teacher, str(work_folder(store)))


def work_folder(store: Store) -> Path:
    """Where unfinished runs work: in the store where it is a folder, else beside other
    temporary files."""
    if store.is_local:
        return Path(store.root) / "work"
    return Path(gettempdir()) / f"crisptree-{slug(store.url)}"


def _gather(
    outcome: Outcome, store: Store, ran: list[str], failed: dict[str, str], progress: Progress
) -> None:
    cell = outcome.job.cell
    if outcome.finished is not None:
        store.put(outcome.finished.record, outcome.finished.agents)
        clear(outcome.job.folder)
        ran.append(cell.key)
        progress.note_record(outcome.finished.record)
        return
    assert outcome.failure is not None
    store.note_failure(cell, outcome.failure)
    failed[cell.key] = outcome.failure.strip().splitlines()[-1]
    progress.note(f"{cell.name} failed: {failed[cell.key]}")


def check_teachers(grid: Grid, store: Store) -> None:
    """Complain before the work, not after, where imitators have nobody to watch."""
    if not any(m in IMITATORS for m in grid.models) or any(m in LEARNERS for m in grid.models):
        return
    taught = {record.cell.env for record in store.records() if record.cell.model in LEARNERS}
    for env in grid.envs:
        if env not in taught:
            raise CrisptreeError(
                f"{' and '.join(m for m in grid.models if m in IMITATORS)} imitate the best agent "
                f"of {env}, and {store.url} has none: add soft-tree or mlp to --models"
            )
