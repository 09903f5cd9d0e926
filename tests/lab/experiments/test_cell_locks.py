import json
import os
import subprocess
import sys
import threading
import time

import pytest

from crisptree.lab.experiments import cell_locks
from crisptree.lab.experiments.cell_locks import FileLocks, LeaseLocks, locks_of
from crisptree.lab.experiments.record_store import RecordStore

KEY = "env/run-1"


@pytest.fixture(params=["disk", "memory"])
def store(request, tmp_path):
    return RecordStore(str(tmp_path) if request.param == "disk" else f"memory://{tmp_path.name}")


@pytest.fixture
def ours(store):
    locks = locks_of(store)
    yield locks
    locks.close()


def test_a_folder_has_the_systems_locks_and_an_object_store_leases(tmp_path):
    assert isinstance(locks_of(RecordStore(str(tmp_path))), FileLocks)
    leases = locks_of(RecordStore("memory://leases"))
    assert isinstance(leases, LeaseLocks)
    leases.close()


def test_a_run_is_locked_once_and_again_after_release(store, ours):
    others = locks_of(store)
    assert ours.acquire(KEY) and not others.acquire(KEY) and not ours.acquire(KEY)
    assert others.acquire("env/run-11")
    ours.release(KEY)
    assert others.acquire(KEY) and not ours.acquire(KEY)
    others.close()
    assert ours.acquire(KEY)
    ours.close()
    assert store.listed("locks") == []


def test_only_one_of_many_gets_it(store):
    every, winners = [locks_of(store) for _ in range(8)], []

    def race(locks) -> None:
        if locks.acquire(KEY):
            winners.append(locks)

    threads = [threading.Thread(target=race, args=(locks,)) for locks in every]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(winners) == 1
    for locks in every:
        locks.close()


def test_the_lock_of_a_killed_process_is_free_at_once(tmp_path):
    code = (
        "import os, sys\nfrom pathlib import Path\n"
        "from crisptree.lab.experiments.cell_locks import FileLocks\n"
        "locks = FileLocks(Path(sys.argv[1]))\n"
        "print(locks.acquire(sys.argv[2]), flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    died = subprocess.run([sys.executable, "-c", code, tmp_path, KEY], capture_output=True)
    assert died.stdout == b"True\n" and died.returncode == -9
    assert (tmp_path / f"{KEY}.lock").exists()
    ours, others = FileLocks(tmp_path), FileLocks(tmp_path)
    assert [ours.acquire(KEY), others.acquire(KEY)] == [True, False]
    ours.close()


def test_a_lock_file_that_was_removed_meanwhile_is_not_taken_for_a_lock(tmp_path, monkeypatch):
    ours, others = FileLocks(tmp_path), FileLocks(tmp_path)
    flock = cell_locks.fcntl.flock

    def release_first(file, how):
        """The owner lets go between our opening of the file and our locking it."""
        if "env/run-1" in others._held:
            others.release(KEY)
        flock(file, how)

    assert others.acquire(KEY)
    monkeypatch.setattr(cell_locks.fcntl, "flock", release_first)
    assert not ours.acquire(KEY) and ours.acquire(KEY)
    ours.close()


def write_lease(store, age: float) -> None:
    content = json.dumps({"renewed": time.time() - age}).encode()
    store.write(store.path("locks", f"{KEY}.1"), content)


@pytest.mark.parametrize(("age", "taken"), [(0.0, False), (cell_locks.EXPIRES + 60, True)])
def test_a_lease_expires(age, taken):
    store = RecordStore(f"memory://expires-{age}")
    write_lease(store, age)
    ours, others = LeaseLocks(store), LeaseLocks(store)
    assert ours.acquire(KEY) is taken and not others.acquire(KEY)
    ours.close()
    others.close()
    assert bool(store.listed("locks")) is not taken


def test_leases_are_renewed():
    store = RecordStore("memory://renewed")
    ours = LeaseLocks(store, renew=0.02)
    assert ours.acquire(KEY)
    path = store.path("locks", f"{KEY}.1")
    first, deadline = store.read(path), time.monotonic() + 10
    while store.read(path) == first and time.monotonic() < deadline:
        time.sleep(0.02)
    assert store.read(path) != first
    ours.close()


def test_a_folder_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "locks").write_text("")
    with pytest.raises(ValueError, match="cannot write"):
        FileLocks(tmp_path / "locks").acquire(KEY)
    assert os.listdir(tmp_path) == ["locks"]
