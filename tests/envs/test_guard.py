import sys
import threading
from decimal import Decimal

import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.envs.guard import guarded, numbers


def test_errors_of_ours_pass_and_others_are_named():
    with pytest.raises(CrisptreeError, match=r"^as it is$"), guarded("Thing-v0", "step"):
        raise CrisptreeError("as it is")
    named = "'Thing-v0' failed in step: KeyError: 'a'"
    with pytest.raises(CrisptreeError, match=named), guarded("Thing-v0", "step"):
        raise KeyError("a")
    with pytest.raises(KeyboardInterrupt), guarded("Thing-v0", "step"):
        raise KeyboardInterrupt


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_streams_stay_open_whatever_is_done_to_them(stream, capsys):
    before = sys.stdout, sys.stderr
    with guarded("Thing-v0", "step"):
        print("from inside")
        getattr(sys, stream).close()
        with getattr(sys, stream) as used:
            used.write("once more\n")
        print("still open")
        setattr(sys, stream, None)
    assert (sys.stdout, sys.stderr) == before
    print("of ours", file=sys.stderr)
    out, error = capsys.readouterr()
    assert (out, error) == ("", "from inside\nonce more\nstill open\nof ours\n")


def test_where_there_is_no_standard_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with guarded("Thing-v0", "step"):
        print("to nobody")
    assert sys.stderr is None


class Panic(BaseException):
    """As extensions in Rust raise it: no Exception."""


class WordlessError(RuntimeError):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize("error", [Panic, WordlessError, GeneratorExit])
def test_whatever_is_raised_is_named(error):
    named = f"'Thing-v0' failed in step: {error.__name__}$"
    with pytest.raises(CrisptreeError, match=named), guarded("Thing-v0", "step"):
        raise error


class Bomb:
    def __array__(self, *_: object) -> np.ndarray:
        raise RuntimeError("no array")

    def __str__(self) -> str:
        """The name of a test, which must be the same in every process."""
        return "bomb"


@pytest.mark.parametrize(
    "found",
    [1j, "1", b"1", np.datetime64("NaT"), np.timedelta64(3), 10**400, Bomb(), [[1], [1, 2]], {}],
    ids=str,
)
def test_what_is_no_number(found):
    assert numbers(found, np.float64) is None
    assert numbers([found, 1.0], np.float32) is None


@pytest.mark.parametrize("found", [True, 3, np.float16(2), Decimal("1.5"), np.zeros(1), 2**70])
def test_what_is_a_number(found):
    array = numbers([found], np.float64)
    assert array is not None and array.dtype == np.float64 and array.item() == found


def test_escapes_in_messages_are_not_printed():
    with pytest.raises(CrisptreeError) as caught, guarded("Evil\x1b[0m", "step"):
        raise RuntimeError("red \x1b[31m text")
    assert "\x1b" not in str(caught.value)


def test_standard_output_is_back_when_threads_overlap():
    before, inside, leave = sys.stdout, threading.Event(), threading.Event()

    def stay() -> None:
        with guarded("A", "step"):
            inside.set()
            leave.wait(5)

    thread = threading.Thread(target=stay)
    with guarded("B", "step"):
        thread.start()
        inside.wait(5)
    assert sys.stdout is sys.stderr  # the other one is still inside
    leave.set()
    thread.join()
    assert sys.stdout is before
