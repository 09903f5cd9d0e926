"""Ctrl-C, in processes of its own."""

import signal
import subprocess
import sys

import pytest

DROPPED = """
import gc, os, signal
from crisptree.base.interrupts import interrupts_raise

def in_the_collector(phase, info):
    if phase == "start":
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

with interrupts_raise():
    gc.callbacks.append(in_the_collector)
    try:
        gc.collect()
        gc.callbacks.clear()
        while True:
            pass
    except KeyboardInterrupt:
        gc.callbacks.clear()
        print("heard")
"""
ENDING = """
from crisptree.base.interrupts import interrupts_end
with interrupts_end():
    print("here", flush=True)
    try:
        while True:
            pass
    except KeyboardInterrupt:
        print("raised")
"""


def test_an_interrupt_in_a_callback_of_the_collector_is_not_dropped():
    """JAX has such a callback; Python drops what is raised in one."""
    done = subprocess.run(
        [sys.executable, "-c", DROPPED], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "heard\n", "")


def test_an_interrupt_ends_the_process_at_once():
    process = subprocess.Popen([sys.executable, "-c", ENDING], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert (process.returncode, said) == (-signal.SIGINT, "")


@pytest.mark.parametrize("name", ["interrupts_end", "interrupts_raise"])
def test_afterwards_all_is_as_it_was(name):
    from crisptree.base import interrupts

    before = signal.getsignal(signal.SIGINT), sys.unraisablehook
    with getattr(interrupts, name)():
        """Nothing."""
    assert (signal.getsignal(signal.SIGINT), sys.unraisablehook) == before
