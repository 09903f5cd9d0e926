"""A real Ray cluster in processes of its own: Ray's warnings are its affair."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from crisptree.lab.experiments.record_store import RecordStore

pytest.importorskip("ray")
HERE = Path(__file__).parent


@pytest.fixture
def environment():
    """Names of sockets have room for a hundred letters, and pytest's own folders take most."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
        own = {"TMPDIR": folder, "PYTHONPATH": path}
        yield {**os.environ, **own, "RAY_worker_niceness": "0", "RAY_USAGE_STATS_ENABLED": "0"}


@pytest.mark.slow  # a cluster takes its time to start, and more on a busy machine
def test_a_grid_ends_complete_though_a_worker_is_killed(tmp_path, environment):
    command = [sys.executable, HERE / "ray_grid.py", str(tmp_path)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr[-3000:]
    said = json.loads(run.stdout.strip().splitlines()[-1])
    assert len(said["killed"]) == 1
    assert said["failed"] == {} and len(said["ran"]) == len(set(said["ran"])) == 4
    store = RecordStore(str(tmp_path))
    assert len(list(store.records())) == 4 and store.listed("locks") == []


@pytest.mark.slow  # starts Ray
def test_a_cluster_that_cannot_be_reached_is_one_line(tmp_path, environment):
    command = [sys.executable, "-m", "crisptree.cli", "reproduce", "--domains", "cartpole"]
    command += ["--models", "random", "--seeds", "1", "--out", str(tmp_path), "--executor", "ray"]
    environment = {**environment, "RAY_ADDRESS": "127.0.0.1:1"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 2, run.stderr[-3000:]
    assert "no Ray cluster can be reached" in run.stderr.splitlines()[-1]
    assert "Traceback" not in run.stderr
