"""Errors of a user's code become one line that names it; what it prints goes to stderr,
which it cannot close."""

import io
import sys
import threading
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from crisptree.base.errors import CrisptreeError
from crisptree.base.text import printable

LONGEST_REASON = 300
NO_NUMBERS = (str, bytes, complex, np.datetime64, np.timedelta64)
"""What NumPy would make numbers of."""


class _Lent(io.TextIOBase):
    """A stream that a user's code may write to, but not close."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(text)

    def flush(self) -> None:
        self.stream.flush()

    def close(self) -> None:
        """Leave it open: it is also ours."""

    def isatty(self) -> bool:
        return self.stream.isatty()

    def fileno(self) -> int:
        return self.stream.fileno()

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.stream.encoding

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _Redirection:
    """Lends standard error as both streams while at least one thread is inside.

    `contextlib.redirect_stdout` would restore the wrong stream when two threads overlap.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._own: tuple[Any, Any] | None = None
        self._lent: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._own = sys.stdout, sys.stderr
                if self._lent is None or self._lent.stream is not sys.stderr:
                    self._lent = sys.stderr and _Lent(sys.stderr)
                sys.stdout = sys.stderr = self._lent
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._own is not None:
                (sys.stdout, sys.stderr), self._own = self._own, None


_redirection = _Redirection()


class guarded:  # noqa: N801 - used as a function, as contextlib's are
    """`with guarded(name, "step"):` turns whatever the environment raises into a CrisptreeError.
    `what` says what kind of thing it is, if it is not an environment.

    Printed text goes to standard error, since standard output may carry a command's JSON. Whatever
    is done to the two streams inside is undone.
    """

    def __init__(self, name: str, doing: str, what: str = "environment") -> None:
        self._name, self._doing = f"the {what} '{printable(name)}'", doing

    def __enter__(self) -> None:
        _redirection.enter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _redirection.leave()
        if error is None or isinstance(error, CrisptreeError | KeyboardInterrupt):
            return
        if isinstance(error, SystemExit):
            raise CrisptreeError(
                f"{self._name} called sys.exit({error.code!r}) in {self._doing}; it should raise "
                "an exception or end the episode"
            ) from error
        raise CrisptreeError(f"{self._name} failed in {self._doing}: {reason(error)}") from error


def reason(error: BaseException) -> str:
    """The exception's type and the first line of its message, safe to print."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # an exception of the user's own may fail at this too
        lines = []
    text = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return printable(text)[:LONGEST_REASON]


def numbers(found: Any, dtype: DTypeLike) -> np.ndarray | None:
    """What a user's code returned as an array of this type; None where it is anything but real
    numbers (None among them becomes NaN)."""
    try:
        array = np.asarray(found)
        kind = array.dtype.kind
        if kind not in "biufO" or (
            kind == "O" and any(isinstance(at, NO_NUMBERS) for at in array.flat)
        ):
            return None
        with np.errstate(over="ignore"):
            return array.astype(dtype, copy=False)
    except Exception:  # objects of the user's own decide what a conversion raises
        return None


def misbehaved(name: str, what: str) -> CrisptreeError:
    """The error that says what an environment did wrong."""
    return CrisptreeError(f"the environment '{printable(name)}' {what}")
