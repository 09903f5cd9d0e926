"""Jobs in processes of their own, one core each: on this machine, or on a Ray cluster.

A job is a function named `module:function` and what it is called with. What it says on the way
arrives as messages; what it returns must be JSON. A worker ends when its parent does, however that
comes about: it holds a pipe whose other end goes with the parent.
"""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import cloudpickle

from crisptree.base.errors import CrisptreeError
from crisptree.base.processes import ONE_THREAD, cores
from crisptree.pipeline.jobs import Done, Job, Message, OnError, OnMessage, ProcessEndedError


def run_jobs(
    jobs: Iterable[Job],
    *,
    workers: int | None = None,
    executor: Literal["local", "ray"] = "local",
    on_message: OnMessage = lambda name, message: None,
    is_enough: Done = lambda name, result: False,
    on_error: OnError | None = None,
) -> dict[str, Any]:
    """The results by name. Each job is taken from `jobs` when there is a worker for it.

    A job that failed is raised, after the others were ended; with `on_error` the others go on.
    """
    if executor == "ray":
        from crisptree.pipeline.ray_executor import run_on_ray

        return run_on_ray(iter(jobs), workers, on_message, is_enough, on_error)
    return _Processes(workers or cores(), on_message, is_enough, on_error).run(iter(jobs))


class _Processes:
    """At most `workers` processes at a time."""

    def __init__(
        self, workers: int, on_message: OnMessage, is_enough: Done, on_error: OnError | None
    ) -> None:
        self._workers, self._on_message, self._is_enough = workers, on_message, is_enough
        self._on_error = on_error
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._messages: queue.Queue[tuple[str, Message]] = queue.Queue()

    def run(self, waiting: Iterator[Job]) -> dict[str, Any]:
        results: dict[str, Any] = {}
        try:
            while True:
                while len(self._running) < self._workers:
                    if (job := next(waiting, None)) is None:
                        break
                    self._start(job)
                if not self._running:
                    break
                name, message = self._messages.get()
                if "result" in message:
                    self._running.pop(name).wait()
                    results[name] = message["result"]
                    if self._is_enough(name, message["result"]):
                        return results
                elif "error" in message:
                    if self._on_error is None:
                        kind = ProcessEndedError if message.get("ended") else CrisptreeError
                        raise kind(message["error"])
                    self._running.pop(name).wait()
                    self._on_error(name, message["error"])
                else:
                    self._on_message(name, message)
        finally:
            for process in self._running.values():
                process.kill()
            for process in self._running.values():
                process.wait()
        return results

    def _start(self, job: Job) -> None:
        # The listening thread closes it.
        log = tempfile.TemporaryFile() if job.log is None else open(job.log, "a+b")  # noqa: SIM115
        process = subprocess.Popen(
            [sys.executable, "-m", "crisptree.pipeline.worker"],
            env={**os.environ, **ONE_THREAD},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,  # Ctrl-C is the parent's to deal with
        )
        assert process.stdin is not None
        payload = cloudpickle.dumps({"function": job.function, "arguments": job.arguments})
        self._running[job.name] = process
        try:
            process.stdin.write(len(payload).to_bytes(8, "big") + payload)
            process.stdin.flush()
        except BrokenPipeError:
            """The listener tells what happened."""
        threading.Thread(target=self._listen, args=(job.name, process, log), daemon=True).start()

    def _listen(self, name: str, process: subprocess.Popen[bytes], log: Any) -> None:
        assert process.stdin is not None and process.stdout is not None
        ended = False
        for line in process.stdout:
            message = json.loads(line)
            ended = ended or "result" in message or "error" in message
            self._messages.put((name, message))
        process.wait()
        if not ended:
            log.seek(0)
            lines = log.read().decode(errors="replace").strip().splitlines()
            why = lines[-1][:300] if lines else f"it ended with code {process.returncode}"
            text = f"{name}: its process ended: {why}"
            self._messages.put((name, {"error": text, "ended": True}))
        for file in (process.stdin, process.stdout, log):
            file.close()
