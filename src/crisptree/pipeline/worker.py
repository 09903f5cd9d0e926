"""The process behind jobs: `python -m crisptree.pipeline.worker`, driven by `executor`.

Jobs come in through standard input, which stays open as long as the parent lives; messages go out
through standard output, one JSON object a line. What a job itself prints goes to its log, or to
standard error, so that it cannot be taken for a message.
"""

import importlib
import json
import os
import queue
import sys
import threading
import traceback
from typing import Any, BinaryIO

from crisptree.base.errors import CrisptreeError


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
    import cloudpickle

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
