"""One run in a process of its own: a folder that resumes, and a lock that dies with the process.

Workers never write to the store. They hand what they have back to the driver, which does: so a
worker that outlives its driver by a moment can harm nothing.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crisptree.lab.experiments.cell import Cell
from crisptree.pipeline.report import StatusFile

if TYPE_CHECKING:
    from crisptree.lab.experiments.run_cell import Finished


@dataclass(frozen=True)
class Job:
    """What a worker is given."""

    cell: Cell
    teacher: tuple[Cell, bytes] | None
    """The cell and the arrays of whom an imitator watches."""
    root: str
    """Where runs work, on the worker's machine."""

    @property
    def folder(self) -> Path:
        """This run's own."""
        return Path(self.root) / self.cell.key


class Quiet(StatusFile):
    """The status for the driver's bars; what stays is the record."""

    def note(self, text: str) -> None:
        """Say nothing: standard output is the driver's."""


def work(job: Job) -> "Finished":
    """Run the job's cell in its folder; alone there, whoever else may have been told to."""
    from crisptree.lab.experiments.run_cell import Watched, run_cell
    from crisptree.learn.cache import keep_compiled

    keep_compiled()
    folder, kept = job.folder, Path(job.root) / "beginnings"
    folder.mkdir(parents=True, exist_ok=True)
    with alone_in(folder):
        watched = None if job.teacher is None else Watched(*job.teacher)
        return run_cell(job.cell, watched, folder, kept, Quiet(folder / "status.json"))


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; wait while a process that is dying still has it.

    The file names its holder. The system takes the lock away from a dead process, however it died.
    """
    with open(folder / "lock", "a+") as file:
        if os.name == "posix":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def clear(folder: Path) -> None:
    """Forget a run's working files: its record is in the store."""
    shutil.rmtree(folder, ignore_errors=True)
