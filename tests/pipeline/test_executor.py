import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.pipeline.executor import Job, run_jobs

HERE = str(Path(__file__).parent)


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Worker processes find jobs.py where a user's module would be found."""
    places = [HERE, os.environ.get("PYTHONPATH")]  # an empty place would be the working directory
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, places)))


def test_results_and_messages_come_back():
    said = []
    jobs = [Job(str(n), "jobs:double", {"number": n}) for n in range(3)]
    results = run_jobs(jobs, workers=2, on_message=lambda *message: said.append(message))
    assert results == {"0": {"twice": 0}, "1": {"twice": 2}, "2": {"twice": 4}}
    assert ("1", {"note": "doubling"}) in said
    assert ("2", {"advance": ["stage", 0.5, "half"]}) in said


def test_what_a_job_refuses_is_one_line():
    with pytest.raises(CrisptreeError, match=r"^it cannot be done$"):
        run_jobs([Job("a", "jobs:refuse", {})])


def test_a_job_that_crashes_is_named_with_its_last_words():
    with pytest.raises(CrisptreeError, match="a: its process ended: last words"):
        run_jobs([Job("a", "jobs:crash", {})])


def test_a_file_in_the_working_directory_hides_no_module_of_ours(tmp_path, monkeypatch):
    """A user's script may be called like a module that the worker needs."""
    for name in ("queue", "json", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('the wrong one')\n")
    monkeypatch.chdir(tmp_path)
    assert run_jobs([Job("a", "jobs:double", {"number": 1})]) == {"a": {"twice": 2}}


def test_a_failure_that_is_listened_to_stops_nothing_else():
    failed: dict[str, str] = {}
    jobs = [Job("a", "jobs:refuse", {}), Job("b", "jobs:crash", {})]
    jobs += [Job("c", "jobs:double", {"number": 1})]
    results = run_jobs(iter(jobs), workers=1, on_error=failed.__setitem__)
    assert results == {"c": {"twice": 2}} and list(failed) == ["a", "b"]


def test_jobs_are_taken_when_there_is_a_worker_for_them():
    taken: list[str] = []

    def jobs():
        for name in ("a", "b"):
            taken.append(name)
            yield Job(name, "jobs:double", {"number": 1})

    run_jobs(jobs(), workers=1, is_enough=lambda name, result: name == "a")
    assert taken == ["a"]


def test_enough_is_enough(tmp_path):
    jobs = [Job("a", "jobs:sleep", {"path": str(tmp_path / "pid")})]
    jobs += [Job("b", "jobs:double", {"number": 1})]
    began = time.monotonic()
    results = run_jobs(jobs, workers=2, is_enough=lambda name, result: name == "b")
    assert list(results) == ["b"]
    assert time.monotonic() - began < 30


PARENT = """
import sys
from crisptree.pipeline.executor import run_jobs
from crisptree.pipeline.executor import Job
run_jobs([Job("a", "jobs:sleep", {"path": sys.argv[1]})])
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_parent(tmp_path, how):
    path = tmp_path / "pid"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(path)], stderr=subprocess.DEVNULL)
    wait_for(lambda: path.exists() and path.read_text())
    worker = int(path.read_text())
    parent.send_signal(how)
    parent.wait()
    wait_for(lambda: not is_alive(worker))


def wait_for(happens, seconds=30):
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().split()[2]
    except FileNotFoundError:
        return False
    return state != "Z"
