"""What runs jobs: this machine's processes (`local`) or a Ray cluster (`on_ray`)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from crisptree.lab.experiments.worker import Job

if TYPE_CHECKING:
    from crisptree.lab.experiments.run_cell import Finished


@dataclass(frozen=True)
class Outcome:
    """What became of a job: finished, or why not."""

    job: Job
    finished: "Finished | None" = None
    failure: str | None = None
    """A traceback; its last line says what happened."""


@runtime_checkable
class Backend(Protocol):
    @property
    def room(self) -> int:
        """How many more jobs may be submitted now."""
        ...

    def submit(self, job: Job) -> None: ...

    def wait(self, seconds: float) -> list[Outcome]:
        """Jobs that have ended, after at most `seconds`."""
        ...

    def close(self) -> None:
        """Stop what still runs; it can be resumed."""
        ...
