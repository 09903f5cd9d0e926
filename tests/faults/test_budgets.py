"""`--budget` where a step takes 50 ms, in short episodes and in ones that never end."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import strict_json

from crisptree.base.processes import cores

KIND = "budgets of slow environments"
MINUTES = 2.0
OVERHEAD = 30.0
"""Seconds for starting, compiling and the first updates, on a machine with nothing else to do."""

pytestmark = pytest.mark.faults


@pytest.mark.parametrize("length", [6, 10**9], ids=["short episodes", "endless episodes"])
def test_a_budget_holds_where_a_step_takes_50_ms(length, tmp_path):
    shutil.copy(Path(__file__).parent / "bad_envs.py", tmp_path)
    kwargs = json.dumps({"fault": "slow", "after": 0, "length": length})
    options = ["--env.kwargs", kwargs, "--out", "run", "--json", "--episodes", "3"]
    options += ["--budget", str(MINUTES)]
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "crisptree", "train", "bad_envs:bad", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    took = time.monotonic() - began
    assert done.returncode == 0, done.stderr[-2000:]
    assert isinstance(strict_json(done.stdout), dict)
    # On a busy machine what is computed takes as much longer.
    busy = max(1.0, os.getloadavg()[0] / cores())
    assert took < 60 * MINUTES + OVERHEAD * busy, done.stderr[-2000:]
