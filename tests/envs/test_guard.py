import sys
import threading

import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.envs.guard import guarded


def test_errors_of_ours_pass_and_others_are_named():
    with pytest.raises(CrisptreeError, match=r"^as it is$"), guarded("Thing-v0", "step"):
        raise CrisptreeError("as it is")
    named = "'Thing-v0' failed in step: KeyError: 'a'"
    with pytest.raises(CrisptreeError, match=named), guarded("Thing-v0", "step"):
        raise KeyError("a")
    with pytest.raises(KeyboardInterrupt), guarded("Thing-v0", "step"):
        raise KeyboardInterrupt


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
