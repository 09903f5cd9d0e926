import subprocess
import sys

import pytest

PROGRAM = """
import os, sys
from crisptree.base.last_words import last_words
try:
    with last_words("it ended: $(touch x) \\\\n 'q'"):
        {}
except ValueError:
    print("raised")
"""


@pytest.mark.parametrize("end", ["os._exit(9)", "os.abort()", "os.kill(os.getpid(), 9)"])
def test_a_process_that_ends_without_coming_back_is_told_of(end):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(end)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0
    assert done.stderr == "it ended: $(touch x) \\n 'q'\n"


@pytest.mark.parametrize("end", ["pass", "sys.exit(3)", "raise ValueError"])
def test_nothing_is_said_where_it_comes_back(end):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(end)], capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
