"""The driver with real processes and jobs that learn nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from made_records import CARTPOLE, made

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.cell_locks import locks_of
from crisptree.lab.experiments.grid import Grid
from crisptree.lab.experiments.record_store import RecordStore
from crisptree.lab.experiments.run_grid import run_grid
from crisptree.pipeline.progress import Lines, Silent

HERE = str(Path(__file__).parent)
MODELS = ("mlp", "state-action-dt", "random")
GRID = Grid((CARTPOLE,), MODELS, leaves=(2,), hidden_layers=(0, 1), n_seeds=2, episodes=2)
N_RUNS = 4
"""Two MLPs, one imitator and the random policy, two seeds each."""


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Worker processes find fake_jobs.py where a user's module would be found."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([HERE, os.environ.get("PYTHONPATH", "")]))


def run(store, job="fake_jobs:run", **options):
    return run_grid(GRID, store, Silent(), workers=2, job=job, **options)


@pytest.fixture(params=["disk", "memory"])
def store(request, tmp_path):
    return RecordStore(str(tmp_path) if request.param == "disk" else f"memory://{tmp_path.name}")


def test_all_of_a_grid_is_run_once_and_imitators_are_given_the_best_agent(store):
    outcome = run(store)
    records = {record.key: record for record in store.records()}
    assert sorted(outcome.ran) == sorted(records) and len(records) == N_RUNS
    assert outcome.failed == {} and store.listed("locks") == []
    (imitator,) = [r for r in records.values() if r.cell.model == "state-action-dt"]
    key, _, seed = str(imitator.cell.teacher).partition("#")
    assert records[key].cell.size == 1 and seed == "1"
    assert not list(store.work_folder.glob("*/*"))
    assert run(store).ran == []


@pytest.mark.parametrize(
    ("job", "says"), [("fail_on_one_layer", "bad luck"), ("die_on_one_layer", "its process ended")]
)
def test_a_failure_stops_nothing_else_and_is_tried_again_next_time(tmp_path, job, says):
    store, layers = RecordStore(str(tmp_path)), (0, 1, 2)
    grid = Grid((CARTPOLE,), ("mlp", "random"), hidden_layers=layers, n_seeds=1, episodes=2)
    outcome = run_grid(grid, store, Silent(), workers=2, job=f"fake_jobs:{job}")
    (why,) = outcome.failed.values()
    assert says in why and "\n" not in why and len(outcome.ran) == 3
    (path,) = store.listed("failed")
    assert "mlp-1-" in path and says.encode() in (store.read(path) or b"")
    if job == "fail_on_one_layer":
        assert b"Traceback" in (store.read(path) or b"")
    outcome = run_grid(grid, store, Silent(), workers=2, job="fake_jobs:run")
    assert outcome.failed == {} and len(outcome.ran) == 1 and "mlp-1" in outcome.ran[0]
    assert store.listed("failed") == [] and store.listed("locks") == []


def test_each_run_is_told_in_a_line(tmp_path):
    said: list[str] = []
    grid = Grid((CARTPOLE,), ("mlp",), hidden_layers=(0, 1), n_seeds=2, episodes=2)
    report = Lines(said.append, every=0.0)
    run_grid(grid, RecordStore(str(tmp_path)), report, workers=1, job="fake_jobs:fail_on_one_layer")
    assert any("mlp 0 seed 0–1" in line and "return 0.5" in line for line in said)
    assert any("mlp 1 seed 0–1 failed: ValueError: bad luck" in line for line in said)
    assert "1/cartpole-v1 mlp 0 seed 0–1 50% stage   half" in said[0]
    assert "all runs 100% 2 done, 0 left" in said[-1]


def test_what_another_process_works_on_is_waited_for(tmp_path, monkeypatch):
    store = RecordStore(str(tmp_path))
    theirs, others = made("random", None, (5.0, 6.0)), locks_of(store)
    assert others.acquire(theirs.key)

    def finish_elsewhere(seconds: float) -> None:
        store.put(theirs, {})
        others.close()

    monkeypatch.setattr("crisptree.lab.experiments.run_grid.time.sleep", finish_elsewhere)
    outcome = run(store)
    assert theirs.key not in outcome.ran and len(outcome.ran) == N_RUNS - 1
    assert store.record(theirs.key) == theirs


DRIVER = """
import sys
sys.path.insert(0, sys.argv[1])
import test_run_grid as t
from crisptree.lab.experiments.record_store import RecordStore
print(len(t.run(RecordStore(sys.argv[2]), job="fake_jobs:slow").ran))
"""


def driver(store) -> subprocess.Popen:
    command = [sys.executable, "-c", DRIVER, HERE, store.url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_drivers_share_the_work_and_run_nothing_twice(tmp_path):
    store = RecordStore(str(tmp_path))
    both = [driver(store), driver(store)]
    ran = [int(process.communicate(timeout=120)[0]) for process in both]
    assert sum(ran) == N_RUNS == len(list(store.records()))
    assert store.listed("locks") == [] and not list(store.work_folder.glob("cartpole*/*"))


def test_a_killed_driver_loses_nothing(tmp_path):
    store = RecordStore(str(tmp_path))
    process, began = driver(store), time.monotonic()
    while not list(store.work_folder.glob("*/*/began")) and time.monotonic() < began + 60:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    done = {record.key for record in store.records()}
    assert len(done) < N_RUNS
    outcome = run(store, job="fake_jobs:slow")
    assert not done & set(outcome.ran) and len(done) + len(outcome.ran) == N_RUNS
    assert store.listed("locks") == []


def test_working_files_of_a_run_that_has_a_record_are_cleared(tmp_path):
    store, record = RecordStore(str(tmp_path)), made("random", None, (5.0, 6.0))
    store.put(record, {})
    left = store.work_folder / record.key
    left.mkdir(parents=True)
    run(store)
    assert not left.exists()


def test_imitators_without_anyone_to_learn_from_are_refused_at_once(tmp_path):
    grid = Grid((CARTPOLE,), ("dagger-dt",))
    with pytest.raises(CrisptreeError, match="imitate the best agent of CartPole-v1"):
        run_grid(grid, RecordStore(str(tmp_path)), Silent())
