"""Real processes; the jobs are random players, which learn nothing and import little."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from made import ENV

from crisptree.lab.experiments import local
from crisptree.lab.experiments.cell import Cell
from crisptree.lab.experiments.local import LocalBackend
from crisptree.lab.experiments.worker import Job, alone_in


def job(tmp_path: Path, seed: int, episodes: int = 3, env: str = ENV) -> Job:
    cell = Cell(env, "random", None, seed, 1, episodes)
    return Job(cell, None, str(tmp_path / "work"))


def gathered(backend: LocalBackend, count: int) -> list:
    outcomes, deadline = [], time.monotonic() + 120
    while len(outcomes) < count and time.monotonic() < deadline:
        outcomes += backend.wait(0.1)
    return outcomes


def holder(folder: Path) -> int:
    """The process at work in a folder, once there is one."""
    lock = folder / "lock"
    while not (lock.exists() and lock.read_text()):
        time.sleep(0.02)
    return int(lock.read_text())


def test_jobs_run_in_processes_that_live_on_and_failures_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(local, "ATTEMPTS", 2)
    backend = LocalBackend(1)
    try:
        assert backend.room == 1
        pids = set()
        for seed in (0, 1):
            backend.submit(job(tmp_path, seed))
            assert backend.room == 0
            (outcome,) = gathered(backend, 1)
            assert outcome.finished is not None
            assert outcome.finished.record.cell == outcome.job.cell
            pids.add(holder(outcome.job.folder))
        assert len(pids) == 1 and os.getpid() not in pids
        backend.submit(job(tmp_path, 2, env="NoSuch-v0"))
        (outcome,) = gathered(backend, 1)
        assert outcome.finished is None and outcome.failure is not None
        assert "no environment 'NoSuch-v0'" in outcome.failure
        long = job(tmp_path, 3, episodes=10**6)
        backend.submit(long)
        for _ in range(2):
            pid = holder(long.folder)
            (long.folder / "lock").unlink()
            os.kill(pid, signal.SIGKILL)
            outcomes = backend.wait(30.0)
        assert outcomes[0].failure == "its process ended 2 times, at last with code -9"
    finally:
        backend.close()


def test_only_one_is_at_work_in_a_folder(tmp_path):
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from crisptree.lab.experiments.worker import alone_in\n"
        "print('asks', flush=True)\nwith alone_in(Path(sys.argv[1])): print('has')"
    )
    with alone_in(tmp_path):
        assert int((tmp_path / "lock").read_text()) == os.getpid()
        command = [sys.executable, "-c", code, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None and other.stdout.readline() == "asks\n"
            with pytest.raises(subprocess.TimeoutExpired):
                other.wait(0.3)
            os.kill(other.pid, signal.SIGKILL)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "asks\nhas\n"
