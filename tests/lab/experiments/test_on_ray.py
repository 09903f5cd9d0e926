"""On a real Ray cluster of two nodes, in processes of its own: Ray's warnings are its affair."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from crisptree.lab.experiments.store import Store

pytest.importorskip("ray")
PROGRAM = Path(__file__).parent / "ray_cluster.py"


@pytest.fixture
def short_folder():
    """Names of sockets have room for a hundred letters, and pytest's own folders take most."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield folder


@pytest.mark.slow  # a cluster of two nodes takes its time to start, and more on a busy machine
def test_a_sweep_ends_complete_though_a_worker_is_killed(tmp_path, short_folder):
    environment = {
        **os.environ,
        "TMPDIR": short_folder,
        "RAY_worker_niceness": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    run = subprocess.run(
        [sys.executable, PROGRAM, str(tmp_path / "store")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    told = json.loads(run.stdout.strip().splitlines()[-1])
    assert told["nodes"] == 2 and len(told["killed"]) == 1
    assert told["failed"] == {} and len(told["ran"]) == len(set(told["ran"])) == 4
    records = list(Store(str(tmp_path / "store")).records())
    assert [record.cell.seeds[0] for record in records] == [0, 1, 2, 3]
    assert Store(str(tmp_path / "store")).listed("claims") == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--address", "127.0.0.1:1"], "no Ray cluster at 127.0.0.1:1"),
        (["--gpus", "64"], "a run needs 64 GPUs and the Ray cluster has"),
    ],
)
@pytest.mark.slow  # starts Ray
def test_a_cluster_that_cannot_serve_is_one_line(tmp_path, arguments, says):
    command = [sys.executable, "-m", "crisptree.cli", "reproduce", "--domains", "cartpole"]
    command += ["--models", "random", "--seeds", "1", "--out", str(tmp_path), "--backend", "ray"]
    run = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=300)
    assert run.returncode == 2 and says in run.stderr.splitlines()[-1]
    assert "Traceback" not in run.stderr
