import json

import pytest
from made import STUMP, made

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.record import Record, versions

RECORD = made("soft-tree", 4, (1.0, 2.5), crisp_scores=(0.5, 0.25))


def test_a_record_comes_back_from_its_text():
    again = Record.from_text(RECORD.to_text())
    assert again == RECORD
    assert again.to_text() == RECORD.to_text()
    assert again.seeds[1].tree().to_dict() == STUMP.to_dict()


def test_a_record_is_plain_json_with_its_config_seed_and_versions():
    content = json.loads(RECORD.to_text())
    assert content["cell"]["model"] == "soft-tree"
    assert [seed["seed"] for seed in content["seeds"]] == [0, 1]
    assert content["versions"] == {"python": "3"} and content["seconds"] == 2.0
    assert "full_policy" not in content["seeds"][0]


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"format": "crisptree.record", "version": 2}', "{" * 9]
)
def test_anything_else_is_no_record(text):
    with pytest.raises(CrisptreeError, match="not a"):
        Record.from_text(text)


def test_a_record_cut_short_is_no_record():
    with pytest.raises(CrisptreeError):
        Record.from_text(RECORD.to_text()[:-30])


def test_without_a_full_policy_the_policy_is_full():
    assert RECORD.seeds[0].full_tree().to_dict() == STUMP.to_dict()


def test_versions_name_what_the_figures_hang_on():
    assert {"python", "crisptree", "jax", "numpy"} <= set(versions())
