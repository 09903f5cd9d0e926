import shutil
import threading

import pytest
from made import made

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.store import Store

RECORD = made("mlp", 2, (1.0, 2.0))


@pytest.fixture(params=["disk", "memory"])
def store(request, tmp_path):
    return Store(str(tmp_path) if request.param == "disk" else f"memory://{tmp_path.name}")


def test_a_record_and_its_agents_are_kept(store):
    assert store.record(RECORD.cell) is None and list(store.records()) == []
    store.put(RECORD, {0: b"zero", 1: b"one"})
    assert store.record(RECORD.cell) == RECORD and list(store.records()) == [RECORD]
    assert store.agent(f"{RECORD.cell.key}#1") == b"one"
    assert list(Store(store.url).records()) == [RECORD]


def test_records_come_in_the_order_of_their_keys(store):
    several = [made("mlp", size, (1.0,)) for size in (8, 1, 4)]
    for record in several:
        store.put(record, {})
    assert [r.cell.size for r in store.records()] == [1, 4, 8]


def test_a_damaged_record_counts_as_not_there(store):
    store.put(RECORD, {})
    path = store.path("records", f"{RECORD.cell.key}.json")
    store.write(path, RECORD.to_text().encode()[:-50])
    assert Store(store.url).record(RECORD.cell) is None


def test_a_failure_is_forgotten_when_the_run_is_done(store):
    store.note_failure(RECORD.cell, "out of luck")
    assert store.read(store.listed("failed")[0]) == b"out of luck"
    store.put(RECORD, {})
    assert store.listed("failed") == []


def test_a_lost_agent_is_named(store):
    with pytest.raises(CrisptreeError, match=r"cartpole/x#0 but not its agent"):
        store.agent("cartpole/x#0")


def test_only_one_of_many_creates_a_file(tmp_path):
    store, winners = Store(str(tmp_path)), []
    path = store.path("claims", "a", "b.1")

    def race(number: int) -> None:
        if store.create(path, str(number).encode()):
            winners.append(number)

    threads = [threading.Thread(target=race, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(winners) == 1 and store.read(path) == str(winners[0]).encode()


def test_created_once_in_memory_too():
    store = Store("memory://created-once")
    path = store.path("x")
    assert store.create(path, b"1") and not store.create(path, b"2")
    assert store.read(path) == b"1"


def test_a_store_that_cannot_be_opened_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CrisptreeError, match="cannot open the results store"):
        Store(str(tmp_path / "file" / "inside"))
    with pytest.raises(CrisptreeError, match="cannot open the results store"):
        Store("nosuchprotocol://x")


def test_a_store_that_cannot_be_written_says_so(tmp_path):
    store = Store(str(tmp_path))
    shutil.rmtree(tmp_path / "records", ignore_errors=True)
    (tmp_path / "records").write_text("a file where the folder should be")
    with pytest.raises(CrisptreeError, match="cannot write"):
        store.put(RECORD, {})
