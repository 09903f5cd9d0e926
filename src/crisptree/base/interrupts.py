"""What Ctrl-C does. Python raises KeyboardInterrupt wherever the program happens to be: while JAX
is being imported that can crash it, and in a callback of the garbage collector it is dropped."""

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

AGAIN_AFTER = 0.05
"""Seconds until a KeyboardInterrupt that was dropped is raised again."""


@contextmanager
def interrupts_end() -> Iterator[None]:
    """Ctrl-C ends the process at once, without a word, as it ends any program."""
    with _on_interrupt(signal.SIG_DFL):
        yield


@contextmanager
def interrupts_raise() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, and once more where that one was dropped."""
    before = sys.unraisablehook

    def again(dropped: Any) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            threading.Timer(AGAIN_AFTER, _thread.interrupt_main).start()
        else:
            before(dropped)

    sys.unraisablehook = again
    try:
        with _on_interrupt(signal.default_int_handler):
            yield
    finally:
        sys.unraisablehook = before


@contextmanager
def _on_interrupt(handler: Any) -> Iterator[None]:
    """Only the main thread may say what a signal does; elsewhere all stays as it is."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
