import json

import pytest
from made_records import STUMP, first_edition, made

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.record import Record, versions

RECORD = made("soft-tree", 4, (1.0, 2.5), crisp_scores=(0.5, 0.25))


def test_a_record_comes_back_from_its_text():
    again = Record.from_text(RECORD.to_text())
    assert again == RECORD
    assert again.to_text() == RECORD.to_text()
    assert again.seeds[1].tree == STUMP


def test_a_record_is_plain_json_with_its_configuration_seeds_and_versions():
    content = json.loads(RECORD.to_text())
    assert content["cell"]["model"] == "soft-tree"
    assert content["cell"]["config"]["policy"] == {
        "kind": "tree",
        "size": 4,
        "leaf": "constant",
        "gains": 2,
    }
    assert [seed["seed"] for seed in content["seeds"]] == [0, 1]
    assert content["versions"] == {"python": "3"} and content["seconds"] == 2.0
    assert "full_policy" not in content["seeds"][0]


def test_a_record_of_the_first_edition_claims_no_hash():
    record = first_edition("crisp-tree", 4, 7.0, seed=2)
    cell = record.cell
    assert (cell.edition, cell.size, cell.beginning, list(cell.seeds)) == (1, 4, "direct", [2])
    assert record.config is None and record.key.endswith("0123456789") and record.key != cell.key


def damaged(**changes) -> str:
    return json.dumps({**json.loads(RECORD.to_text()), **changes})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        "{" * 9,
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"format": "crisptree.record", "version": 3}',
        RECORD.to_text()[:-30],
        damaged(seeds=3),
        damaged(seeds=[{"seed": 0, "colour": "red"}]),
        damaged(seeds=[{"seed": 0, "policy": {"format": "crisptree.policy"}}]),
        damaged(seeds=[{"seed": 0, "policy": [1, 2]}]),
        damaged(seeds=[{"seed": 0, "soft_returns": ["much"]}]),
        damaged(seeds=[{"seed": 0, "curve": [1]}]),
        damaged(cell={"model": "mlp"}),
        damaged(cell={**RECORD.cell.to_dict(), "config": {"ppo": {"gama": 1}}}),
        damaged(version=1),
    ],
)
def test_anything_else_is_no_record(text):
    with pytest.raises(CrisptreeError):
        Record.from_text(text)


def test_without_a_full_policy_the_policy_is_full():
    assert RECORD.seeds[0].full_tree == STUMP


def test_versions_name_what_the_figures_depend_on():
    assert {"python", "crisptree", "jax", "numpy"} <= set(versions())


def test_a_record_of_an_earlier_procedure_keeps_its_hash():
    """Its configuration may have fields that are no more."""
    content = made("crisp-tree", 4, (7.0,)).to_dict()
    cell = content["cell"]
    assert Record.from_dict(content).cell.variant_hash == cell["config_hash"]
    cell["edition"] -= 1
    cell["config_hash"] = "0123456789abcdef"
    cell["config"]["refine"]["forgotten"] = 1.0
    earlier = Record.from_dict(content).cell
    assert earlier.variant_hash == "0123456789abcdef"
    assert earlier.size == 4
    cell["edition"] += 1
    with pytest.raises(CrisptreeError, match="no field 'forgotten'"):
        Record.from_dict(content)
