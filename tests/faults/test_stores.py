"""Several drivers on one store, one of them killed; a grid on Ray, one of whose workers is killed:
every record is there, once."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import pytest
from grid_driver import GRID

from crisptree.lab.experiments.grid import missing_cells
from crisptree.lab.experiments.record_store import RecordStore

KIND = "records of two drivers or of Ray, one process killed"
HERE = Path(__file__).parent
EXPERIMENTS = HERE.parent / "lab" / "experiments"

pytestmark = pytest.mark.faults


def environment(**own: str) -> dict[str, str]:
    path = os.pathsep.join([str(EXPERIMENTS), str(HERE), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, **own}


def driver(store: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, HERE / "grid_driver.py", str(store)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("killed", [False, True])
def test_two_drivers(killed, tmp_path, cases):
    first, second = driver(tmp_path), driver(tmp_path)
    ran: list[str] = []
    if killed:
        while not list((tmp_path / "records").rglob("*.json")):
            assert second.poll() is None, "it ended without a record"
            time.sleep(0.05)
        time.sleep(Random(0).uniform(0, 1))
        first.send_signal(signal.SIGKILL)
    for each in (first, second):
        out, err = each.communicate(timeout=1200)
        if each is second or not killed:
            assert each.returncode == 0, err[-2000:]
            said = json.loads(out)
            assert said["failed"] == {}
            ran += said["ran"]
    store = RecordStore(str(tmp_path))
    records = [record.key for record in store.records()]
    failures = [f"{cell.key} is missing" for cell in missing_cells(GRID, store.records())]
    failures += [f"{key} was run twice" for key in ran if ran.count(key) > 1]
    if not killed:
        failures += [] if sorted(ran) == sorted(records) else ["records that nobody told of"]
    cases(len(records), failures)


def test_ray(tmp_path, cases):
    pytest.importorskip("ray")
    # Names of sockets have room for a hundred letters, and pytest's own folders take most.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        done = subprocess.run(
            [sys.executable, EXPERIMENTS / "ray_grid.py", str(tmp_path)],
            env=environment(TMPDIR=folder, RAY_worker_niceness="0", RAY_USAGE_STATS_ENABLED="0"),
            capture_output=True,
            text=True,
            timeout=1200,
        )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.strip().splitlines()[-1])
    assert len(said["killed"]) == 1 and said["failed"] == {}
    records = [record.key for record in RecordStore(str(tmp_path)).records()]
    cases(len(records), [key for key in said["ran"] if records.count(key) != 1])
