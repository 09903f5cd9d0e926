"""The same jobs on a Ray cluster: the one that is running, or one of this machine alone."""

from collections.abc import Sequence
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.pipeline.executor import Done, Job, OnMessage
from crisptree.pipeline.progress import Silent
from crisptree.pipeline.worker import call

RETRIES = 3
"""How often a job is started again whose worker died."""


def run_on_ray(jobs: Sequence[Job], on_message: OnMessage, is_enough: Done) -> dict[str, Any]:
    """The results by name. A job whose worker dies is run again; a job that fails is raised."""
    try:
        import ray
    except ImportError as error:
        raise CrisptreeError("Ray needs its package: pip install 'crisptree[ray]'") from error
    if not ray.is_initialized():
        ray.init(log_to_driver=False, ignore_reinit_error=True)
    work = ray.remote(num_cpus=1, max_retries=RETRIES)(_work)
    names = {work.remote(job.function, job.arguments): job.name for job in jobs}
    results: dict[str, Any] = {}
    while names:
        (ready,), _ = ray.wait(list(names), num_returns=1)
        name = names.pop(ready)
        try:
            answer = ray.get(ready)
        except ray.exceptions.RayError as error:
            raise CrisptreeError(f"{name} failed on Ray: {_last_line(error)}") from error
        if "error" in answer:
            raise CrisptreeError(answer["error"])
        on_message(name, {"note": f"{name} is done"})
        results[name] = answer["result"]
        if is_enough(name, answer["result"]):
            for other in names:
                ray.cancel(other, force=True)
            break
    return results


def _work(function: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"result": call(function, arguments, Silent())}
    except CrisptreeError as error:
        return {"error": str(error)}


def _last_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__
