"""Runs that have their beginning in common end as if each had begun by itself."""

import json

import pytest
from made import ENV
from test_run_cell import timeless

from crisptree.lab.experiments import beginnings
from crisptree.lab.experiments.beginnings import beginnings_of, lines_of
from crisptree.lab.experiments.cell import Cell
from crisptree.lab.experiments.run_cell import run_cell, settings_of
from crisptree.pipeline.report import Silent


def cell(model: str, size: int, *, env: str = ENV, seed: int = 0, route="direct", **more) -> Cell:
    return Cell(env, model, size, seed, 1, 3, route=route, **more)  # type: ignore[arg-type]


def wild(model: str, size: int, **more) -> Cell:
    """Where no other test puts a smaller recipe."""
    return cell(model, size, env="crisptree/Wildfire-v0", **more)


def common(a: Cell, b: Cell) -> int:
    """How many stages two runs have in common."""
    ours, theirs = ({x.name: x.n_stages for x in beginnings_of(settings_of(c))} for c in (a, b))
    return max((n for name, n in ours.items() if name in theirs), default=0)


@pytest.mark.parametrize(
    ("other", "n_stages"),
    [
        (wild("crisp-tree", 8), 1),
        (wild("crisp-list", 8), 1),
        (wild("crisp-tree", 128), 0),  # wider from the start
        (wild("crisp-tree", 4, seed=1), 0),
        (wild("crisp-tree", 4, steps=9), 0),
        (wild("crisp-tree", 4, learning_rate=0.1), 0),
        (wild("crisp-tree", 4, route="soft"), 0),
        (cell("crisp-tree", 4, env="LunarLander-v3"), 0),
    ],
)
def test_trees_share_what_does_not_depend_on_their_size(other, n_stages):
    assert common(wild("crisp-tree", 4), other) == n_stages


def test_with_a_teacher_sizes_share_three_stages_and_shapes_the_teacher():
    tree = wild("crisp-tree", 4, route="mlp")
    assert common(tree, wild("crisp-tree", 8, route="mlp")) == 3
    assert common(tree, wild("crisp-list", 4, route="mlp")) == 1
    assert common(wild("crisp-list", 2), wild("crisp-list", 4)) == 3


@pytest.mark.parametrize(
    ("first", "second", "n_stages"),
    [
        (cell("crisp-tree", 4), cell("crisp-list", 2), 1),
        (cell("crisp-tree", 4, route="soft"), cell("crisp-tree", 2, route="soft"), 3),
    ],
)
def test_the_record_is_the_same_as_without(tiny, tmp_path, monkeypatch, first, second, n_stages):
    alone = run(second, tmp_path / "alone", tmp_path / "nothing")
    run(first, tmp_path / "first", tmp_path / "kept")
    taken = []

    def take(settings, folder, kept):
        beginnings_take(settings, folder, kept)
        taken.extend(stages_in(folder))

    beginnings_take = beginnings.take
    monkeypatch.setattr(beginnings, "take", take)
    assert run(second, tmp_path / "second", tmp_path / "kept") == alone
    assert taken == stages_in(tmp_path / "first")[:n_stages]
    assert not list((tmp_path / "kept").glob("half-*"))


def stages_in(folder) -> list[str]:
    return sorted(path.name for path in folder.glob("stages/*"))


def run(cell: Cell, folder, kept) -> str:
    folder.mkdir()
    return timeless(run_cell(cell, None, folder, kept, Silent()).record)


def test_an_interrupted_run_keeps_its_own_stages(tmp_path):
    settings = settings_of(cell("crisp-tree", 4))
    run, kept = tmp_path / "run", tmp_path / "kept"
    for folder, stage in ((run, "01-mine"), (kept / beginnings_of(settings)[0].name, "01-theirs")):
        (folder / "stages" / stage).mkdir(parents=True)
        (folder / "metrics.jsonl").touch()
    beginnings.take(settings, run, kept)
    assert [path.name for path in (run / "stages").iterdir()] == ["01-mine"]


def test_lines_end_where_the_beginning_does():
    def line(stage: str, step: int) -> str:
        return json.dumps({"stage": stage, "step": step}) + "\n"

    ours = [line("direct-16", 64), line("direct-16", 128), line("refine-16", 64)]
    names = ["direct-16", "distil", "refine-16"]
    assert list(lines_of([*ours, line("refine-9", 64)], names)) == ours
    assert list(lines_of([*ours, line("refine-16", 32)], names)) == ours
