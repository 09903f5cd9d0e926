"""Damaged records of experiments: the report is made, or one line names the file at fault."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from command_line import command, fault, strict_json
from corpora import records
from damage import damaged

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.record_store import RecordStore

KIND = "damaged records of experiments"
RECORDS = records()
FILES = 600
REPORTS = 20
REPORT = (
    "reproduce",
    "--domains",
    "cartpole",
    "--seeds",
    "1",
    "--only-report",
    "--json",
    "--episodes",
    "2",
)

ENTRIES = [
    {"name": "cart", "suite": "a", "env": "CartPole-v1", "leaves": 4, "episodes": 9},
    {"name": "tank", "suite": "b", "env": "evilmod:Tank", "features": "evilmod:f", "leaves": 4},
    {"name": "lake", "suite": "a", "env": "FrozenLake-v1", "leaves": 8, "kwargs": {"desc": None},
     "reference": {"value": 0.74, "source": "the optimum"}},
]  # fmt: skip
FIGURE = {"mean": 20.0, "error": 1.0, "worst": 9.0, "kind": "mlp", "leaves": 4, "exact": None}
ZOO = {
    "format": "crisptree.zoo",
    "version": 1,
    "key": "cart/seed-0-0",
    "entry": ENTRIES[0],
    "seed": 0,
    "budget": 1.0,
    "command": "crisptree train CartPole-v1",
    "config_hash": "0",
    "verdict": "it learned",
    "figures": dict.fromkeys(("random", "constant", "network", "cart", "crisptree"), FIGURE),
    "teacher": "mlp",
    "optimum": None,
    "seconds": {"training": 60.0, "all": 70.0},
    "versions": {"crisptree": "0"},
    "policy": {},
}
ZOO_FILES = 120
ZOO_REPORT = ("zoo", "--entries", "entries.json", "--seeds", "0", "--budget", "1")

pytestmark = pytest.mark.faults


@pytest.fixture
def trap(tmp_path, monkeypatch) -> Iterator[Path]:
    """The working folder, with a module that must not be imported."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evilmod.py").write_text("open('imported', 'w').close()")
    yield tmp_path
    assert not (tmp_path / "imported").exists()


def in_store(store: Path, record: dict[str, Any]) -> Path:
    """Where a record lies in a store."""
    place = store / "records" / f"{record['key']}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def content(record: dict[str, Any]) -> bytes:
    return json.dumps(record, indent=1).encode()


def test_one_line_names_the_file(cases, tmp_path):
    failures = []
    for number in range(FILES):
        rng = Random(number)
        record = rng.choice(RECORDS)
        place = in_store(tmp_path, record)
        place.write_bytes(damaged(content(record), rng))
        try:
            list(RecordStore(str(tmp_path)).records())
        except CrisptreeError as error:
            if place.name not in str(error) or not str(error).isprintable():
                failures.append((number, str(error)))
        except Exception as error:
            failures.append((number, repr(error)))
        place.unlink()
    cases(FILES, failures)


def test_reports_of_what_is_damaged(cases, trap):
    """Damaged so that it is still JSON, and read by the command that reports."""
    tmp_path, failures = trap, []
    for record in RECORDS:
        in_store(tmp_path, record).write_bytes(content(record))
    assert command(*REPORT, "--out", str(tmp_path)).code == 0, "what is sound is reported"
    for number in range(REPORTS):
        record = RECORDS[number % len(RECORDS)]
        place = in_store(tmp_path, record)
        place.write_bytes(damaged(content(record), Random(1000 + number)))
        said = command(*REPORT, "--out", str(tmp_path))
        if why := fault(said):
            failures.append((number, why))
        place.write_bytes(content(record))
    cases(REPORTS, failures)


@pytest.mark.parametrize("hit", ["entries.json", "zoo/cart.json"])
def test_the_zoo(hit, cases, trap):
    """Its list of environments, which names code, and its records."""
    whole = {"entries.json": ENTRIES, "zoo/cart.json": ZOO}
    (trap / "zoo").mkdir()
    for name, what in whole.items():
        (trap / name).write_text(json.dumps(what))
    report = (*ZOO_REPORT, "--out", str(trap), "--only-report", "--json")
    assert strict_json(command(*report).out), "what is sound is reported"
    refused = command(*ZOO_REPORT, "--out", "new")
    assert fault(refused, refused=True) is None and "say --env evilmod:Tank" in refused.err
    failures = []
    for number in range(ZOO_FILES):
        (trap / hit).write_bytes(damaged(json.dumps(whole[hit]).encode(), Random(number)))
        said = command(*report)
        why = fault(said)
        if why is None and said.code == 0:
            strict_json(said.out)
        failures += [] if why is None else [(number, why)]
    cases(ZOO_FILES, failures)
