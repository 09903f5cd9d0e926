"""What `reproduce` and `sweep` have in common: where to run, and where the results go."""

import importlib.util
from dataclasses import dataclass
from typing import Literal

from crisptree.base.errors import CrisptreeError
from crisptree.base.processes import cores
from crisptree.lab.experiments.backend import Backend
from crisptree.commands.options import OptionalInt, OptionalStr


@dataclass(frozen=True)
class Where:
    """Where runs run."""

    backend: Literal["local", "ray"] = "local"
    """Processes of this machine, one a core, or tasks of a Ray cluster."""
    processes: OptionalInt = None
    """Local: this many at a time (as many as cores unless given)."""
    address: OptionalStr = None
    """Ray: a cluster's address, `auto` for the one this machine belongs to; a cluster of this
    machine alone unless given."""
    cpus: float = 1.0
    """Ray: cores a run needs."""
    gpus: float = 0.0
    """Ray: GPUs a run needs; 0.25 lets four share one."""
    retries: int = 3
    """Ray: how often a run is tried again whose worker or node is lost."""


@dataclass(frozen=True)
class Told:
    """How results are told."""

    out: OptionalStr = None
    """A folder, or any URL that fsspec opens (s3://bucket/folder); what it has is not run again."""
    only_report: bool = False
    """Run nothing: report what the store has of what is asked for."""
    json: bool = False
    """Print the results as one JSON object, and nothing else, on standard output."""


def check_packages(where: Where) -> None:
    """Complain before the work rather than after."""
    needs = [("fsspec", "experiments"), ("matplotlib", "experiments")]
    if where.backend == "ray":
        needs.append(("ray", "ray"))
    for package, extra in needs:
        if importlib.util.find_spec(package) is None:
            raise CrisptreeError(f"this needs {package}: pip install 'crisptree[{extra}]'")


def backend_for(where: Where) -> Backend:
    """The backend asked for, started."""
    if where.backend == "ray":
        from crisptree.lab.experiments.on_ray import RayBackend

        return RayBackend(
            where.address, num_cpus=where.cpus, num_gpus=where.gpus, retries=where.retries
        )
    from crisptree.lab.experiments.local import LocalBackend

    if where.processes is not None and where.processes < 1:
        raise CrisptreeError(f"--processes must be at least 1, not {where.processes}")
    return LocalBackend(where.processes or cores())
