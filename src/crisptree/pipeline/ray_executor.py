"""The same jobs on a Ray cluster: the one that is running, or one of this machine alone."""

import logging
import os
import socket
from collections.abc import Iterator
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.base.processes import ONE_THREAD
from crisptree.pipeline.jobs import Done, Job, OnError, OnMessage
from crisptree.pipeline.progress import Silent
from crisptree.pipeline.worker import call

RETRIES = 3
"""How often a job is started again whose worker died."""


def run_on_ray(
    jobs: Iterator[Job],
    workers: int | None,
    on_message: OnMessage,
    is_enough: Done,
    on_error: OnError | None,
) -> dict[str, Any]:
    """The results by name. A job whose worker dies is run again; a job that fails is raised, or
    told to `on_error`."""
    try:
        import ray
        from ray.exceptions import RayError
    except ImportError as error:
        raise CrisptreeError("Ray needs its package: pip install 'crisptree[ray]'") from error
    if not ray.is_initialized():
        _check_reachable(os.environ.get("RAY_ADDRESS", ""))
        try:
            ray.init(log_to_driver=False, logging_level=logging.ERROR, ignore_reinit_error=True)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise CrisptreeError(f"no Ray cluster can be reached: {_last_line(error)}") from error
    here = {"env_vars": ONE_THREAD}
    work = ray.remote(num_cpus=1, max_retries=RETRIES, runtime_env=here)(_work)
    most = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    names: dict[Any, str] = {}
    results: dict[str, Any] = {}
    while True:
        while len(names) < most and (job := next(jobs, None)) is not None:
            names[work.remote(job.function, job.arguments)] = job.name
        if not names:
            return results
        (ready,), _ = ray.wait(list(names), num_returns=1)
        name = names.pop(ready)
        try:
            answer = ray.get(ready)
        except RayError as error:
            answer = {"error": f"{name} failed on Ray: {_last_line(error)}"}
        if "result" in answer:
            on_message(name, {"note": f"{name} is done"})
            results[name] = answer["result"]
            if is_enough(name, answer["result"]):
                break
        elif on_error is None:
            break
        else:
            on_error(name, answer["error"])
    for other in names:
        ray.cancel(other, force=True)
    if "error" in answer:
        raise CrisptreeError(answer["error"])
    return results


def _check_reachable(address: str) -> None:
    """Refuse a cluster that does not answer; Ray itself would wait for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10.0).close()
    except OSError as error:
        raise CrisptreeError(f"no Ray cluster can be reached at {address}: {error}") from error


def _work(function: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"result": call(function, arguments, Silent())}
    except CrisptreeError as error:
        return {"error": str(error)}


def _last_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__
