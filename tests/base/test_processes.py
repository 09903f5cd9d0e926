import os
import subprocess
import sys

from crisptree.base.processes import ONE_THREAD, cores


def test_cores_are_those_this_process_may_use():
    allowed = os.sched_getaffinity(0)
    assert cores() == len(allowed)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_one_thread_can_be_said_before_jax_is_imported():
    said = "import sys, crisptree.base.processes; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", said]).returncode == 0
    assert ONE_THREAD["OMP_NUM_THREADS"] == "1"
