"""Jobs as tasks of a Ray cluster. Queueing, placement, retries and lost nodes are Ray's.

Records come back to the driver, which writes them to its store; nodes need crisptree installed and
nothing shared. A run that is tried again on the same node goes on where it was.
"""

import dataclasses
import logging
import os
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crisptree.base.errors import CrisptreeError
from crisptree.base.processes import ONE_THREAD
from crisptree.lab.experiments.backend import Outcome
from crisptree.lab.experiments.worker import Job, clear, work

if TYPE_CHECKING:
    from crisptree.lab.experiments.run_cell import Finished

MOST_SUBMITTED = 10_000


class RayBackend:
    def __init__(
        self, address: str | None, *, num_cpus: float, num_gpus: float, retries: int
    ) -> None:
        """Join the cluster at `address`, or start one of this machine alone."""
        # Ray's own word on what it will do about GPUs some day; ours are set per task.
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        if address is not None:
            check_reachable(address)
        import ray
        import ray.exceptions

        self._ray, self._errors = ray, ray.exceptions.RayError
        try:
            ray.init(
                address=address or "local",
                log_to_driver=False,
                logging_level=logging.ERROR,
                configure_logging=True,
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise CrisptreeError(f"no Ray cluster at {address or 'local'}: {error}") from error
        have = ray.cluster_resources()
        for name, need in (("CPU", num_cpus), ("GPU", num_gpus)):
            if need > have.get(name, 0.0):
                self.close()
                raise CrisptreeError(
                    f"a run needs {need:g} {name}s and the Ray cluster has {have.get(name, 0.0):g}"
                )
        here = {"JAX_PLATFORMS": "cpu"} if num_gpus == 0 else {}
        self._task = ray.remote(
            num_cpus=num_cpus,
            num_gpus=num_gpus,
            max_retries=retries,
            runtime_env={
                "env_vars": {**ONE_THREAD, **here, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
            },
        )(work_on_node)
        self._running: dict[Any, Job] = {}

    @property
    def room(self) -> int:
        return MOST_SUBMITTED - len(self._running)

    def submit(self, job: Job) -> None:
        self._running[self._task.remote(job)] = job

    def wait(self, seconds: float) -> list[Outcome]:
        if not self._running:
            return []
        references = list(self._running)
        ended, _ = self._ray.wait(references, num_returns=len(references), timeout=seconds)
        return [self._outcome(reference) for reference in ended]

    def _outcome(self, reference: Any) -> Outcome:
        job = self._running.pop(reference)
        try:
            return Outcome(job, self._ray.get(reference))
        except self._errors as error:
            return Outcome(job, failure=str(error))

    def close(self) -> None:
        """Leave the cluster; tasks of a driver that has left are stopped."""
        self._ray.shutdown()


def check_reachable(address: str) -> None:
    """Ray itself would wait for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if address == "auto" or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10.0).close()
    except OSError as error:
        raise CrisptreeError(f"no Ray cluster at {address}: {error}") from error


def work_on_node(job: Job) -> "Finished":
    """The job in a folder of this node's, whatever the driver's disk looks like."""
    here = dataclasses.replace(job, root=str(Path(tempfile.gettempdir()) / "crisptree-work"))
    finished = work(here)
    clear(here.folder)
    return finished
