"""Jobs in other processes, one core each: on this machine, or on a Ray cluster.

A job is a function named `module:function` and what it is called with. What it says on the way
arrives as messages; what it returns must be JSON. A worker ends when its parent does, however that
comes about: it holds a pipe whose other end goes with the parent.

The worker is `python -m crisptree.pipeline.executor`. Jobs come in through its standard input;
messages go out through its standard output, one JSON object a line. What a job itself prints goes
to its log, or to standard error, so that it cannot be taken for a message.
"""

import importlib
import json
import logging
import os
import queue
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

import cloudpickle

from crisptree.base.errors import CrisptreeError
from crisptree.base.processes import ONE_THREAD, cores
from crisptree.pipeline.progress import Silent

Executor = Literal["local", "ray"]
Message = dict[str, Any]


class Job(NamedTuple):
    name: str
    function: str
    """`module:function`, called with the arguments and a Reporter."""
    arguments: dict[str, Any]
    log: str | None = None
    """A file for what the job prints; it is appended to."""


OnMessage = Callable[[str, Message], object]
"""Called with the job's name and a message: {"advance": [stage, done, text]} or {"note": …}."""
Done = Callable[[str, Any], bool]
"""Called with a job's name and result; True ends the other jobs."""
OnError = Callable[[str, str], object]
"""Called with the name of a job that failed and one line that says why."""


class ProcessEndedError(CrisptreeError):
    """A job's process ended without an answer."""


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
            return run_on_ray(waiting, self._count, on_message, is_enough, on_error)
        results: dict[str, Any] = {}
        try:
            while self._give_out(waiting):
                worker, message = self._messages.get()
                name = worker.job.name if worker.job is not None else ""
                if self._busy.get(name) is not worker:
                    continue  # a last message of a worker that is no longer waited for
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
        """Give jobs to free workers; return whether any is busy."""
        while len(self._busy) < (self._count or cores()):
            if (job := next(waiting, None)) is None:
                break
            worker = self._idle.pop() if self._idle else _Worker(self._messages)
            self._busy[job.name] = worker
            worker.give(job)
        return bool(self._busy)

    def _release(self, name: str) -> None:
        """Let a worker that is done wait for another job, or end it."""
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
    """A process, and the job it works on."""

    def __init__(self, messages: queue.Queue[tuple["_Worker", Message]]) -> None:
        self._messages = messages
        self.job: Job | None = None
        self.n_jobs = 0
        # What the process prints outside of jobs; the listening thread closes it.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            # -P: a file of the user's that is called like a module (queue.py) must not hide it
            [sys.executable, "-P", "-m", "crisptree.pipeline.executor"],
            env={**os.environ, **ONE_THREAD},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # the parent handles Ctrl-C
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


RETRIES = 3
"""How often a job is started again if its worker dies."""


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
    work = ray.remote(num_cpus=1, max_retries=RETRIES, runtime_env=here)(_answer)
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


def _answer(function: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"result": call(function, arguments, Silent())}
    except CrisptreeError as error:
        return {"error": str(error)}


def _last_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__


class Messages:
    """A Reporter that writes to the parent."""

    def __init__(self, out: BinaryIO) -> None:
        self._out, self._lock = out, threading.Lock()

    def send(self, message: dict[str, Any]) -> None:
        with self._lock:
            self._out.write(json.dumps(message).encode() + b"\n")
            self._out.flush()

    def advance(self, stage: str, done: float, text: str) -> None:
        self.send({"advance": [stage, done, text]})

    def note(self, text: str) -> None:
        self.send({"note": text})


def call(function: str, arguments: dict[str, Any], report: Any) -> Any:
    """What `module:function` returns."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)(**arguments, report=report)


def _receive(pipe: BinaryIO, jobs: queue.Queue[bytes]) -> None:
    """Put jobs into the queue; the process ends when the other end of the pipe is gone."""
    while True:
        size = pipe.read(8)
        payload = pipe.read(int.from_bytes(size, "big"))
        if len(size) < 8 or len(payload) < int.from_bytes(size, "big"):
            os._exit(1)
        jobs.put(payload)


def _print_to(path: str) -> None:
    """What is printed from now on goes to the end of a file."""
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)


def _work(payload: bytes, messages: Messages) -> None:
    try:
        job = cloudpickle.loads(payload)
        if job["log"] is not None:
            _print_to(job["log"])
        messages.send({"result": call(job["function"], job["arguments"], messages)})
    except CrisptreeError as error:
        messages.send({"error": str(error)})
    except BaseException as error:
        traceback.print_exc()
        sys.stderr.flush()
        messages.send({"error": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"})


def main() -> None:
    messages = Messages(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)
    jobs: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, jobs), daemon=True).start()
    while True:
        _work(jobs.get(), messages)


if __name__ == "__main__":
    main()
