import json

import pytest
from made import ENV, made, table_records

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.conduct import conduct
from crisptree.lab.experiments.options import Told, Where
from crisptree.lab.experiments.plan import Grid
from crisptree.lab.experiments.store import Store

GRID = Grid((ENV,), ("mlp", "crisp-tree"), n_seeds=5, episodes=2)


@pytest.fixture
def store(tmp_path):
    store = Store(str(tmp_path))
    for record in table_records():
        store.put(record, {})
    return store


def test_only_report_runs_nothing_and_reports_what_is_there(store, capsys):
    conduct("Title", GRID, Where(), Told(store.url, only_report=True, json=True), "unused")
    told = json.loads(capsys.readouterr().out)
    assert told["ran"] == 0 and len(list(store.records())) == len(table_records())
    rows = {row["row"]: row["mean"] for row in told["domains"]["cartpole"]["table"]}
    assert rows == {"mlp": 90.0, "crisp-tree": 73.0}
    assert store.read(store.path("report.html"))


def test_without_a_record_there_is_nothing_to_report(tmp_path):
    Store(str(tmp_path)).put(made("mlp", 0, (1.0,), episodes=7), {})
    with pytest.raises(CrisptreeError, match="has no records of what is asked for"):
        conduct("Title", GRID, Where(), Told(str(tmp_path), only_report=True), "unused")
    assert not (tmp_path / "report.html").exists()
