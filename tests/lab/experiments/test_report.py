import json
import re
from html.parser import HTMLParser

import pytest
from made import ENV, STUMP, made, table_records

from crisptree.crisp import CrispTree
from crisptree.lab.experiments.plan import Grid
from crisptree.lab.experiments.readable import readable_policies
from crisptree.lab.experiments.report import files_of, make_report, verdict, write_report
from crisptree.lab.experiments.store import Store
from crisptree.lab.experiments.summary import groups_of

MODELS = ("soft-tree", "soft-list", "mlp", "crisp-tree", "state-action-dt", "random")
GRID = Grid((ENV,), MODELS, n_seeds=2, episodes=2)


@pytest.fixture(scope="module")
def store():
    store = Store("memory://report")
    for record in table_records():
        store.put(record, {})
    store.put(made("mlp", 0, (999.0,), selection=(0.0,), steps=5), {})
    return store


@pytest.fixture(scope="module")
def files(store):
    return dict(files_of(make_report("Title <here>", "crisptree reproduce", GRID, store)))


def test_everything_is_written_to_the_store(store, files):
    write_report(make_report("Title", "crisptree reproduce", GRID, store), store)
    for name in files:
        assert store.read(store.path(name))


def test_markdown_shows_figures_and_policies_that_are_there(files):
    text = files["report.md"].decode()
    linked = re.findall(r"\]\(([^)]+)\)", text)
    assert len(linked) > 6 and set(linked) <= set(files)
    assert "| crisp tree | 73.0 ± 2.0 | 499.5 ± 0.8 |" in text
    assert "999" not in text, "records of other settings do not count"


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.links += [v for n, v in attrs if n in ("src", "href", "xlink:href") and v]


def test_the_page_needs_nothing_else(files):
    page = Page()
    page.feed(files["report.html"].decode())
    assert page.tags.count("svg") == 3 + 2 * 2 and "table" in page.tags
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert "Title &lt;here&gt;" in files["report.html"].decode()


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
    (best,) = readable_policies(groups_of(records), ENV)
    assert best.figures.crisp_selection == 2.0 and best.shape == "tree"
    assert best.tree.n_leaves == STUMP.n_leaves and set(best.pictures()) == {"simplified", "full"}


def test_results_are_json_with_every_seed(files):
    results = json.loads(files["results.json"])
    domain = results["domains"]["cartpole"]
    mlp = next(row for row in domain["table"] if row["row"] == "mlp")
    assert mlp["every_seed"] == {"0": 85.0, "1": 95.0} and mlp["paper"]["mean"] == 500.0
    assert mlp["iqm"] == {"estimate": 90.0, "low": 85.0, "high": 95.0}
    rivals = {(each["model"], each["over"]): each["estimate"] for each in domain["improvement"]}
    assert rivals["crisp-tree", "state-action-dt"] == 1.0
    assert domain["worth_it"]["size"] == 2


def test_the_verdict_names_the_smaller_that_is_as_good():
    said = verdict(groups_of(table_records()), ENV)
    assert said is not None and said.startswith("Worth it: crisp tree, 2 leaves")
    assert "crisp tree, 8 leaves" in said
    assert verdict(groups_of([made("mlp", 0, (1.0,))]), ENV) is None
