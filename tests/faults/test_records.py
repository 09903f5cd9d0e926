"""Damaged records of experiments: the report is made, or one line names the file at fault."""

import json
from pathlib import Path
from random import Random

import pytest
from command_line import command, fault
from damage import damaged

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.record_store import RecordStore

KIND = "damaged records of experiments"
CORPUS = sorted((Path(__file__).parent / "corpus" / "records").glob("*.json"))
FILES = 600
REPORTS = 20
REPORT = ("reproduce", "--domains", "cartpole", "--seeds", "1", "--only-report", "--json")

pytestmark = pytest.mark.faults


def in_store(store: Path, path: Path) -> Path:
    """Where a record of the corpus lies in a store."""
    place = store / "records" / (json.loads(path.read_text())["key"] + ".json")
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def test_one_line_names_the_file(cases, tmp_path):
    failures = []
    for number in range(FILES):
        rng = Random(number)
        path = rng.choice(CORPUS)
        place = in_store(tmp_path, path)
        place.write_bytes(damaged(path.read_bytes(), rng))
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
    for path in CORPUS:
        in_store(tmp_path, path).write_bytes(path.read_bytes())
    for number in range(REPORTS):
        path = CORPUS[number % len(CORPUS)]
        place = in_store(tmp_path, path)
        place.write_bytes(damaged(path.read_bytes(), Random(1000 + number)))
        said = command(*REPORT, "--out", str(tmp_path))
        if why := fault(said):
            failures.append((number, why))
        place.write_bytes(path.read_bytes())
    cases(REPORTS, failures)
