"""Damaged records of experiments: the report is made, or one line names the file at fault."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from command_line import command, fault
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

pytestmark = pytest.mark.faults


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


def test_reports_of_what_is_damaged(cases, tmp_path):
    """Damaged so that it is still JSON, and read by the command that reports."""
    failures = []
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
