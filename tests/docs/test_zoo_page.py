"""The page of the zoo is what its records say."""

import json

from pages import ROOT

from crisptree.lab.zoo.entry import load_entries
from crisptree.lab.zoo.record import ZooStore
from crisptree.lab.zoo.report import as_json, as_page, rows_of

PAGE, RESULTS = ROOT / "docs" / "zoo.md", ROOT / "results" / "zoo"


def test_the_page_follows_from_the_records():
    records = list(ZooStore(str(RESULTS)).records())
    rows = rows_of(load_entries(), records, {})
    seeds = sorted({record.seed for record in records})
    assert PAGE.read_text(encoding="utf-8") == as_page(rows, seeds)
    assert json.loads((RESULTS / "zoo.json").read_text()) == json.loads(as_json(rows))
