import json
import os
import subprocess
import sys
import time

import pytest
from made import made

from crisptree.lab.experiments import claims
from crisptree.lab.experiments.claims import Claims
from crisptree.lab.experiments.store import Store

CELL = made("mlp", 2, (1.0,)).cell


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path))


@pytest.fixture
def ours(store):
    held = Claims(store)
    yield held
    held.close()


def claim_of(store: Store, generation: int = 1) -> dict:
    return json.loads(store.read(store.path("claims", f"{CELL.key}.{generation}")) or b"null")


def test_a_run_is_claimed_once_and_again_after_release(store, ours):
    others = Claims(store)
    assert ours.take(CELL) and not others.take(CELL) and not ours.take(CELL)
    ours.release(CELL)
    assert others.take(CELL) and not ours.take(CELL)
    others.close()
    assert ours.take(CELL)


def test_closing_leaves_no_claims(store):
    held = Claims(store)
    held.take(CELL)
    held.close()
    assert store.listed("claims") == []


def test_the_claim_of_a_dead_process_is_taken_over_by_one(store, ours):
    code = (
        "import os, sys\n"
        "from crisptree.lab.experiments.cell import Cell\n"
        "from crisptree.lab.experiments.claims import Claims\n"
        "from crisptree.lab.experiments.store import Store\n"
        "import json\n"
        "cell = Cell.from_dict(json.loads(sys.argv[2]))\n"
        "print(Claims(Store(sys.argv[1])).take(cell), flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    arguments = [sys.executable, "-c", code, store.url, json.dumps(CELL.to_dict())]
    died = subprocess.run(arguments, capture_output=True, text=True)
    assert died.stdout == "True\n" and died.returncode == -9
    others = Claims(store)
    assert [ours.take(CELL), others.take(CELL)] == [True, False]
    assert claim_of(store, 2)["pid"] == os.getpid()
    ours.release(CELL)
    others.close()
    assert store.listed("claims") == []


@pytest.mark.parametrize(("age", "taken"), [(0.0, False), (claims.DEAD_AFTER + 60, True)])
def test_another_machine_is_dead_when_it_is_silent_for_long(store, ours, age, taken):
    claim = {"machine": "elsewhere", "pid": 1, "began": "1", "renewed": time.time() - age}
    store.write(store.path("claims", f"{CELL.key}.1"), json.dumps(claim).encode())
    assert ours.take(CELL) is taken


def test_a_later_process_of_the_same_number_is_another(store, ours):
    claim = {"machine": claims.machine(), "pid": os.getpid(), "began": "then"}
    content = json.dumps({**claim, "renewed": time.time()}).encode()
    store.write(store.path("claims", f"{CELL.key}.1"), content)
    assert ours.take(CELL)


def test_a_claim_half_written_is_waited_for_and_then_dead(store, ours):
    path = store.path("claims", f"{CELL.key}.1")
    store.write(path, b"")
    assert not ours.take(CELL)
    past = time.time() - claims.HALF_WRITTEN - 1
    os.utime(path, (past, past))
    assert ours.take(CELL)


def test_claims_are_renewed(store, monkeypatch):
    monkeypatch.setattr(claims, "RENEW", 0.02)
    held = Claims(store)
    held.take(CELL)
    first = claim_of(store)["renewed"]
    deadline = time.monotonic() + 10
    while claim_of(store)["renewed"] == first and time.monotonic() < deadline:
        time.sleep(0.02)
    assert claim_of(store)["renewed"] > first
    held.close()


def test_only_dead_claims_are_swept(store, ours):
    assert not ours.take_dead(CELL)
    path = store.path("claims", f"{CELL.key}.1")
    store.write(path, b"")
    assert not ours.take_dead(CELL)
    past = time.time() - claims.HALF_WRITTEN - 1
    os.utime(path, (past, past))
    assert ours.take_dead(CELL)
    ours.release(CELL)
    assert not store.files.exists(path)
