import json
import shutil

import pytest
from made_records import made

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.record_store import RecordStore

RECORD = made("mlp", 2, (1.0, 2.0))


@pytest.fixture(params=["disk", "memory"])
def store(request, tmp_path):
    return RecordStore(str(tmp_path) if request.param == "disk" else f"memory://{tmp_path.name}")


def test_a_record_and_its_agents_are_kept(store):
    assert store.record(RECORD.key) is None and list(store.records()) == []
    store.put(RECORD, {0: b"zero", 1: b"one"})
    assert store.record(RECORD.key) == RECORD and list(store.records()) == [RECORD]
    assert store.agent(f"{RECORD.key}#1") == b"one"
    assert list(RecordStore(store.url).records()) == [RECORD]


def test_records_come_in_the_order_of_their_keys(store):
    several = [made("mlp", size, (1.0,)) for size in (8, 1, 4)]
    for record in several:
        store.put(record, {})
    assert [r.cell.size for r in store.records()] == [1, 4, 8]


BAD_POLICY = json.loads(made("crisp-tree", 4, (1.0,)).to_text())
BAD_POLICY["seeds"][0]["policy"]["tree"]["threshold"] = ["a", "b"]


@pytest.mark.parametrize(
    "content",
    [RECORD.to_text()[:-50], "[" * 100_000, json.dumps(BAD_POLICY), "\x1b[2J", b"\xff\xfe"],
)
def test_a_damaged_record_is_named_by_its_file_in_one_line(store, content):
    store.put(RECORD, {})
    path = store.path("records", f"{RECORD.key}.json")
    store.write(path, content if isinstance(content, bytes) else content.encode())
    with pytest.raises(CrisptreeError) as caught:
        list(RecordStore(store.url).records())
    said = str(caught.value)
    assert f"{path} is damaged: " in said and "delete it" in said
    assert said.isprintable() and len(said) < 500 + len(path)


def test_a_failure_is_forgotten_when_the_run_is_done(store):
    store.note_failure(RECORD.cell, "out of luck")
    assert store.read(store.listed("failed")[0]) == b"out of luck"
    store.put(RECORD, {})
    assert store.listed("failed") == []


def test_a_lost_agent_is_named(store):
    with pytest.raises(CrisptreeError, match=r"cartpole/x#0 but not its agent"):
        store.agent("cartpole/x#0")


def test_a_store_that_cannot_be_opened_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CrisptreeError, match="cannot open the results store"):
        RecordStore(str(tmp_path / "file" / "inside"))
    with pytest.raises(CrisptreeError, match="cannot open the results store"):
        RecordStore("nosuchprotocol://x")


def test_a_store_that_cannot_be_written_says_so(tmp_path):
    store = RecordStore(str(tmp_path))
    shutil.rmtree(tmp_path / "records", ignore_errors=True)
    (tmp_path / "records").write_text("a file where the folder should be")
    with pytest.raises(CrisptreeError, match="cannot write"):
        store.put(RECORD, {})
