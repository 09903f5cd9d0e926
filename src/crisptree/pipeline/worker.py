"""The process behind a job: `python -m crisptree.pipeline.worker`, driven by `executor`.

The job comes in through standard input, which stays open as long as the parent lives; messages go
out through standard output, one JSON object a line. What the job itself prints goes to standard
error, so that it cannot be taken for a message.
"""

import importlib
import json
import os
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


def _end_with_parent(pipe: BinaryIO) -> None:
    pipe.read()  # returns when the other end is gone
    os._exit(1)


def main() -> None:
    import cloudpickle

    pipe = sys.stdin.buffer
    messages = Messages(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)
    size = int.from_bytes(pipe.read(8), "big")
    payload = pipe.read(size)
    if len(payload) < size:
        os._exit(1)
    threading.Thread(target=_end_with_parent, args=(pipe,), daemon=True).start()
    try:
        job = cloudpickle.loads(payload)
        messages.send({"result": call(job["function"], job["arguments"], messages)})
    except CrisptreeError as error:
        messages.send({"error": str(error)})
    except BaseException as error:
        traceback.print_exc()
        sys.stderr.flush()
        messages.send({"error": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"})
    os._exit(0)  # libraries' threads are not waited for


if __name__ == "__main__":
    main()
