import json
import re

import pytest
from made_records import CARTPOLE, ENV, STUMP, first_edition, made, table_records

from crisptree.crisp import CrispTree
from crisptree.lab.experiments.best_policies import best_policies
from crisptree.lab.experiments.experiment_report import make_report, verdict
from crisptree.lab.experiments.grid import Grid
from crisptree.lab.experiments.groups import groups_of

MODELS = ("soft-tree", "soft-list", "mlp", "crisp-tree", "state-action-dt", "random")
GRID = Grid((CARTPOLE,), MODELS, n_seeds=2, episodes=2)


@pytest.fixture(scope="module")
def files():
    other = made("mlp", 0, (999.0,), selection=(0.0,), overrides={"steps": 5})
    records = [*table_records(), other]
    return make_report("Title <here>", "crisptree reproduce", GRID, records).files


def test_markdown_shows_figures_and_policies_that_are_there(files):
    text = files["report.md"].decode()
    linked = re.findall(r"\]\(([^)]+)\)", text)
    assert len(linked) > 4 and set(linked) <= set(files)
    assert "| crisp tree | 73.0 ± 2.0 | 499.5 ± 0.8 |" in text
    assert "999" not in text, "records of other settings do not count"
    assert "first edition" not in text


def test_the_page_has_all_drawings_in_it(files):
    text = files["report.html"].decode()
    assert text.count("<svg") == 3 + 2 * 2 and "Title &lt;here&gt;" in text


def test_policies_can_be_loaded_and_say_how_they_were_made(files, tmp_path):
    path = tmp_path / "policy.json"
    path.write_bytes(files["policies/cartpole-tree.json"])
    tree = CrispTree.load(path)
    assert tree.training["command"] == "crisptree train --seed 1"
    assert tree.training["crisp_return"] == 75.0 and tree.training["episodes"] == 2


def test_the_best_policy_is_chosen_by_selection_and_the_smaller_of_equals():
    records = [
        made("crisp-tree", 4, (9.0,), selection=(1.0,)),
        made("crisp-tree", 8, (5.0,), selection=(2.0,)),
        made("soft-tree", 4, (1.0,), crisp_scores=(2.0,)),
    ]
    (best,) = best_policies(groups_of(records), CARTPOLE)
    assert best.result.crisp_selection == 2.0 and best.shape == "tree"
    assert best.tree.n_leaves == STUMP.n_leaves and set(best.drawings()) == {"simplified", "full"}


def test_results_are_json_with_every_seed_and_the_config_hash(files):
    results = json.loads(files["results.json"])
    domain = results["domains"]["cartpole"]
    mlp = next(row for row in domain["table"] if row["row"] == "mlp")
    assert mlp["every_seed"] == {"0": 85.0, "1": 95.0} and mlp["paper"]["mean"] == 500.0
    assert mlp["iqm"] == {"estimate": 90.0, "low": 85.0, "high": 95.0}
    assert mlp["config_hash"] == made("mlp", 0, (1.0,)).cell.variant_hash
    rivals = {(each["model"], each["over"]): each["estimate"] for each in domain["improvement"]}
    assert rivals["crisp-tree", "state-action-dt"] == 1.0
    assert domain["worth_it"]["size"] == 2 and domain["env"] == ENV


def test_the_first_editions_records_are_shown_and_said_to_be_so():
    records = [first_edition("crisp-tree", 2, 7.0), made("mlp", 0, (9.0,))]
    report = make_report("Title", "crisptree reproduce", GRID, records)
    text = report.files["report.md"].decode()
    assert "| crisp tree | 7.0¹ |" in text and "Made by the first edition of crisptree" in text
    table = {row["row"]: row for row in report.results["domains"]["cartpole"]["table"]}
    assert table["crisp-tree"]["config_hash"] is None and table["crisp-tree"]["edition"] == 1
    assert table["mlp"]["config_hash"] is not None


def test_the_verdict_names_the_smaller_that_is_as_good():
    said = verdict(groups_of(table_records()), CARTPOLE)
    assert said is not None and said.startswith("Worth it: crisp tree, 2 leaves")
    assert "crisp tree, 8 leaves" in said
    assert verdict(groups_of([made("mlp", 0, (1.0,))]), CARTPOLE) is None
