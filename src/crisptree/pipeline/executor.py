"""Jobs in other processes, one core each: on this machine, or on a Ray cluster.

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
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import cloudpickle

from crisptree.base.errors import CrisptreeError
from crisptree.base.processes import ONE_THREAD, cores
from crisptree.pipeline.jobs import Done, Job, Message, OnError, OnMessage, ProcessEndedError

Executor = Literal["local", "ray"]


def run_jobs(
    jobs: Iterable[Job],
    *,
    workers: int | None = None,
    executor: Executor = "local",
    on_message: OnMessage = lambda name, message: None,
    is_enough: Done = lambda name, result: False,
    on_error: OnError | None = None,
) -> dict[str, Any]:
    """The results by name; every job has a process of its own. See `Workers.run`."""
    with Workers(workers, executor, jobs_each=1) as few:
        return few.run(jobs, on_message=on_message, is_enough=is_enough, on_error=on_error)


class Workers:
    """At most `count` processes at a time. Each takes one job after the other, so that what it has
    imported and compiled serves the next; or `jobs_each` of them, and is then replaced."""

    def __init__(
        self, count: int | None = None, executor: Executor = "local", jobs_each: int | None = None
    ) -> None:
        self._count, self._executor, self._jobs_each = count, executor, jobs_each
        self._idle: list[_Worker] = []
        self._busy: dict[str, _Worker] = {}
        self._messages: queue.Queue[tuple[_Worker, Message]] = queue.Queue()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self._end_busy()
        for worker in self._idle:
            worker.end()
        self._idle = []

    def run(
        self,
        jobs: Iterable[Job],
        *,
        on_message: OnMessage = lambda name, message: None,
        is_enough: Done = lambda name, result: False,
        on_error: OnError | None = None,
    ) -> dict[str, Any]:
        """The results by name. Each job is taken from `jobs` when there is a worker for it.

        Once a result `is_enough`, the jobs still at work are ended. A job that failed is raised,
        after the others were ended; with `on_error` the others go on.
        """
        waiting = iter(jobs)
        if self._executor == "ray":
            from crisptree.pipeline.ray_executor import run_on_ray

            return run_on_ray(waiting, self._count, on_message, is_enough, on_error)
        results: dict[str, Any] = {}
        try:
            while self._give_out(waiting):
                worker, message = self._messages.get()
                name = worker.job.name if worker.job is not None else ""
                if self._busy.get(name) is not worker:
                    continue  # the last words of one that is not waited for
                if "result" in message:
                    self._release(name)
                    results[name] = message["result"]
                    if is_enough(name, message["result"]):
                        break
                elif "error" in message:
                    if on_error is None:
                        kind = ProcessEndedError if message.get("ended") else CrisptreeError
                        raise kind(message["error"])
                    self._release(name)
                    on_error(name, message["error"])
                else:
                    on_message(name, message)
        finally:
            self._end_busy()
        return results

    def _give_out(self, waiting: Any) -> bool:
        """Give jobs to free workers; whether any is at work."""
        while len(self._busy) < (self._count or cores()):
            if (job := next(waiting, None)) is None:
                break
            worker = self._idle.pop() if self._idle else _Worker(self._messages)
            self._busy[job.name] = worker
            worker.give(job)
        return bool(self._busy)

    def _release(self, name: str) -> None:
        """A worker is done with its job: it waits for another, or goes."""
        worker = self._busy.pop(name)
        if worker.is_alive and worker.n_jobs != self._jobs_each:
            self._idle.append(worker)
        else:
            worker.end()

    def _end_busy(self) -> None:
        for worker in self._busy.values():
            worker.end()
        self._busy = {}


class _Worker:
    """A process, and the job it is at."""

    def __init__(self, messages: queue.Queue[tuple["_Worker", Message]]) -> None:
        self._messages = messages
        self.job: Job | None = None
        self.n_jobs = 0
        # What is printed outside of jobs; the listening thread closes it.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "crisptree.pipeline.worker"],
            env={**os.environ, **ONE_THREAD},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C is the parent's to deal with
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def give(self, job: Job) -> None:
        self.job, self.n_jobs = job, self.n_jobs + 1
        payload = cloudpickle.dumps(job._asdict())
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(len(payload).to_bytes(8, "big") + payload)
            self._process.stdin.flush()
        except BrokenPipeError:
            """The listener tells what happened."""

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._listener.join()

    def _listen(self) -> None:
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        for line in process.stdout:
            self._messages.put((self, json.loads(line)))
        process.wait()
        name = "" if self.job is None else self.job.name
        text = f"{name}: its process ended: {self._last_words()}"
        self._messages.put((self, {"error": text, "ended": True}))
        for file in (process.stdin, process.stdout, self._errors):
            file.close()

    def _last_words(self) -> str:
        self._errors.seek(0)
        said = self._errors.read()
        if self.job is not None and self.job.log is not None:
            log = Path(self.job.log)
            said += log.read_bytes() if log.exists() else b""
        lines = said.decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else f"it ended with code {self._process.returncode}"
