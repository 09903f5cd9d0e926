"""Two entries in trainings of a few updates: records, comparisons, resuming, what fails."""

import json
from dataclasses import replace

import numpy as np
import pytest

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.lab.zoo.entry import Entry, Reference, check_named, chosen, load_entries
from crisptree.lab.zoo.record import Figure, ZooRecord, ZooStore
from crisptree.lab.zoo.report import as_cells, as_csv, as_json, as_page, asked_records, rows_of
from crisptree.lab.zoo.run_zoo import run_entry
from crisptree.lab.zoo.teachers import networks_of, trained_network
from crisptree.learn.config import PPOConfig
from crisptree.pipeline.config import (
    CandidateConfig,
    DistillConfig,
    EnvConfig,
    PolicyConfig,
    PruneConfig,
    SearchConfig,
    SelectionConfig,
    TrainConfig,
)
from crisptree.pipeline.progress import Silent
from crisptree.pipeline.resolve import resolve
from crisptree.pipeline.timing import Measurement

PPO = PPOConfig(n_envs=8, n_steps=16, n_epochs=1, n_minibatches=2, critic_width=8)
SMALL = TrainConfig(
    steps=8 * PPO.steps_per_update,
    episodes=4,
    checkpoint_every=4,
    ppo=PPO,
    distill=DistillConfig(rounds=2, episodes=4, finalists=2),
    prune=PruneConfig(races=2, ways=3, rounds=(4,), check=8, free_check=8),
    search=SearchConfig(sweeps=1, width=3, rounds=(4,), confirm=8),
    selection=SelectionConfig(scale=1.0, snapshots=(4,), final=16, states=500, settled=(4, 16)),
)
CARTPOLE = Entry("CartPole", "classic control", "CartPole-v1", 4, episodes=4)
LAKE = Entry("Lake", "small MDPs", "crisptree/FrozenLake4x4-v0", 8, episodes=4)


def small(entry: Entry, beginning: str) -> TrainConfig:
    """What a test can wait for; the rest is the entry's."""
    return replace(
        SMALL,
        env=EnvConfig(entry.env),
        policy=PolicyConfig(size=entry.leaves),
        candidates=CandidateConfig((beginning,)),  # pyright: ignore[reportArgumentType]
    )


def test_networks_are_read_from_the_folders_of_a_run(tmp_path):
    task = CARTPOLE.task()
    config = resolve(small(CARTPOLE, "mlp"), task, Measurement(1e4, 20.0))
    trained = trained_network(tmp_path, config, task, 1.0, Silent())
    (read,) = networks_of(tmp_path, config, task)
    rows = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
    assert read.kind == "mlp"
    assert (read.policy.act(rows) == trained.policy.act(rows)).all()


@pytest.mark.slow
def test_a_network_teaches_tree_and_cart(tmp_path):
    record = run_entry(CARTPOLE, small(CARTPOLE, "mlp"), tmp_path / "work", Silent())
    assert set(record.figures) == {"random", "constant", "network", "cart", "crisptree"}
    assert (record.teacher, record.figures["network"].kind) == ("mlp", "mlp")
    assert record.optimum is None
    tree = CrispTree.from_dict(record.policy)
    assert tree.n_leaves == record.figures["crisptree"].leaves
    assert (record.figures["cart"].leaves or 9) <= 4
    assert not (tmp_path / "work").exists()
    assert ZooRecord.from_text(record.to_text()) == record


def test_an_exact_teacher_and_exact_figures(tmp_path):
    record = run_entry(LAKE, small(LAKE, "exact"), tmp_path / "work", Silent())
    assert record.teacher == "exact"
    assert record.optimum is not None
    assert record.optimum == pytest.approx(0.54203, abs=1e-4)
    for name in ("network", "cart", "crisptree"):
        exact = record.figures[name].exact
        assert exact is not None and exact <= record.optimum + 1e-9
    cart = record.figures["cart"]
    assert cart.exact is not None and cart.exact > 0.4


def made(entry: Entry, seed: int, crisp: float, **more) -> ZooRecord:
    figures = {
        "random": Figure(9.5),
        "network": Figure(480.0, 3.0, 100.0, "mlp"),
        "cart": Figure(400.0, 3.0, 80.0, leaves=4),
        "crisptree": Figure(crisp, 1.0, 90.0, leaves=3),
    }
    config = entry.config(seed, None)
    key, seconds = entry.key(config), {"training": 90.0, "all": 100.0}
    return ZooRecord(
        key, entry.to_dict(), seed, None, "crisptree train", "1f", "", figures, "mlp", None,
        seconds, {}, **more,
    )  # fmt: skip


def test_a_store_has_each_record_once(tmp_path):
    store = ZooStore(str(tmp_path))
    record = made(CARTPOLE, 0, 500.0)
    assert store.record(record.key) is None
    store.put(record)
    assert store.record(record.key) == record
    assert list(store.records()) == [record]
    (file,) = tmp_path.rglob("*.json")
    file.write_text("{}")
    with pytest.raises(CrisptreeError, match="is damaged"):
        store.record(record.key)


def test_the_table_shows_every_seed_and_why_rows_are_empty():
    absent = Entry("Absent", "elsewhere", "no_such_package:Env-v0", 8)
    rows = rows_of(
        [CARTPOLE, absent],
        [made(CARTPOLE, 1, 490.0), made(CARTPOLE, 0, 500.0)],
        {"Absent": "needs the package no_such_package"},
    )
    head, first, second = as_cells(rows)
    assert first == [
        "CartPole",
        "9.5",
        "",
        "480",
        "400",
        "495 (500, 490)",
        "",
        "3 of 4",
        "1.5 of 10",
    ]
    assert second[0] == "Absent" and "no_such_package" in second[-1]
    assert len(head) == len(first) == len(second)
    assert as_csv(rows).splitlines()[1].startswith("CartPole,classic control,0,9.5,,480.0,400.0")
    assert json.loads(as_json(rows))[0]["crisptree"] == [500.0, 490.0]
    page = as_page(rows, (0, 1))
    assert "2 of 2 environments; training seeds 0, 1. What" in page
    assert "## Elsewhere" in page and "| 495 (500, 490) |" in page


def test_no_name_is_a_formula_for_a_spreadsheet():
    entry = replace(CARTPOLE, name="=1+1", suite="@sum")
    assert "'=1+1,'@sum,0," in as_csv(rows_of([entry], [made(entry, 0, 500.0)], {}))


def test_older_records_count_where_there_are_none_of_today():
    today, other = made(CARTPOLE, 0, 500.0), made(CARTPOLE, 1, 490.0)
    old = replace(today, key="cartpole/seed-0-older")
    assert asked_records([old, today, other], [CARTPOLE], (0,), None) == [today]
    assert asked_records([today, old], [CARTPOLE], (0,), None) == [today]
    assert asked_records([old], [CARTPOLE], (0, 1), None) == [old]
    assert asked_records([old], [CARTPOLE], (0,), 2.0, any_budget=True) == [old]
    assert asked_records([old], [CARTPOLE], (0,), 2.0) == asked_records([old], [LAKE], (0,), None)


def test_keys_follow_from_the_configuration():
    keys = {
        CARTPOLE.key(CARTPOLE.config(seed, budget)) for seed in (0, 1) for budget in (None, 2.0)
    }
    assert len(keys) == 4
    assert CARTPOLE.key(CARTPOLE.config(0, None)) in keys


def test_the_zoo_s_own_entries():
    entries = load_entries()
    assert len(entries) >= 20
    assert len({entry.suite for entry in entries}) >= 5
    assert chosen(entries, ("toy text",))[0].name == "CliffWalking-v1"
    assert [each.env for each in chosen(entries, ("highway-fast-v0",))] == [
        "highway_env:highway-fast-v0"
    ]
    with pytest.raises(CrisptreeError, match="no 'Nothing'"):
        chosen(entries, ("Nothing",))
    reference = chosen(entries, ("MiniGrid-DoorKey-5x5-v0",))[0].reference
    assert reference == Reference(0.964, "RL-Zoo, PPO")


def test_a_missing_package_is_told_with_its_extra(monkeypatch):
    (entry,) = chosen(load_entries(), ("highway-fast-v0",))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(CrisptreeError, match=r"pip install 'crisptree\[zoo\]'"):
        entry.task()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("7", "is no list of entries"),
        ("nothing", "is no list of entries"),
        ("[1]", r"\[0\] must be an object with fields, not 1"),
        ('[{"name": "a"}]', r"\[0\] has no 'suite'"),
    ],
)
def test_a_file_that_is_no_list_of_entries(tmp_path, text, says):
    (tmp_path / "own.json").write_text(text)
    with pytest.raises(CrisptreeError, match=rf"own\.json *{says}"):
        load_entries(tmp_path / "own.json")


def test_a_file_gets_no_module_imported_that_the_user_does_not_name(tmp_path):
    tank = Entry("tank", "mine", "tank:Tank", 4, features="tank:levels")
    check_named((*load_entries(), tank), ("tank:Tank",))
    with pytest.raises(CrisptreeError, match="if you trust it, say --env tank:Tank"):
        check_named((tank,), ("tank",))
    with pytest.raises(CrisptreeError, match="names 'other:levels'"):
        check_named((replace(tank, features="other:levels"),), ("tank:Tank",))
