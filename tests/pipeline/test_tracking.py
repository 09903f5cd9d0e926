"""Following a training, in small: every update is heard of once, wherever it was made."""

import json
import sys
from types import SimpleNamespace

import pytest
from runs import Stopped, metrics
from small import small_config

import crisptree
from crisptree.base.errors import CrisptreeError
from crisptree.envs.task import task_of
from crisptree.pipeline.config import DirectConfig
from crisptree.pipeline.config_io import to_dict
from crisptree.pipeline.progress import Reporter, Silent
from crisptree.pipeline.tracking import Follower, followed, scalars, tracked
from crisptree.pipeline.train import train

CONFIG = small_config(direct=DirectConfig(width=4, starts=2))
ADDED = ("run", "stage_number", "total_step", "steps_per_second")


def bare(rows):
    return [{k: v for k, v in row.items() if k not in ADDED} for row in rows]


@pytest.fixture(scope="module")
def task():
    return task_of("CartPole-v1")


@pytest.fixture(scope="module")
def heard(task, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "run"
    rows = []
    crisptree.train(task, out=path, config=CONFIG, on_progress=rows.append, progress=False)
    return path, rows


def test_on_progress_hears_every_line_once(heard):
    path, rows = heard
    assert bare(rows) == metrics(path)
    assert {"start-0", "start-1"} <= {row["run"] for row in rows}


def test_steps_go_on_where_a_stage_starts_anew(heard):
    path, rows = heard
    direct = [row for row in rows if row["run"] == "start-1"]
    assert [row["total_step"] for row in direct] == [128 * (i + 1) for i in range(len(direct))]
    later = [row for row in rows if row["stage"] != "direct"]
    assert all(row["total_step"] > direct[-1]["total_step"] for row in later)
    for row in rows:
        folder = path / "stages" / f"{row['stage_number']:02d}-{row['stage']}"
        assert folder.is_dir()


def test_it_hears_while_the_training_runs(task, tmp_path):
    at = []

    def on_progress(row):
        at.append(row["step"])
        if len(at) == 9:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        crisptree.train(
            task, out=tmp_path / "run", config=CONFIG, on_progress=on_progress, progress=False
        )
    assert not (tmp_path / "run" / "policy.json").exists()
    assert len(at) == 9


def test_a_resumed_run_says_nothing_twice_and_counts_on(task, tmp_path, heard, monkeypatch):
    _, whole = heard
    out = tmp_path / "run"
    first, rest = [], []
    with pytest.raises(KeyboardInterrupt), followed(Silent(), out, first.append) as report:
        # the bar moves, and Ctrl-C comes, before the follower looks at this segment
        monkeypatch.setattr(report, "_report", Stopped("direct", 3))
        train(CONFIG, task, out, report=report)
    with followed(Silent(), out, rest.append) as report:
        train(CONFIG, task, out, resume=True, report=report)
    assert first and rest
    timeless = lambda rows: [{**row, "steps_per_second": 0} for row in rows]
    assert timeless(rest) == timeless(whole)[len(whole) - len(rest) :]
    assert timeless(first) == timeless(whole)[: len(first)]
    # what came after the last checkpoint is made again; nothing is left out
    assert len(first) + len(rest) >= len(whole)


def laid_out(folder, lines, stages):
    for stage in stages:
        (folder / "stages" / stage).mkdir(parents=True)
    with open(folder / "metrics.jsonl", "a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def test_every_process_is_heard_and_no_half_line(tmp_path):
    rows = []
    follower = Follower(Silent(), tmp_path, rows.append)
    assert isinstance(follower, Reporter)
    follower.advance("2 starts", 0.0, "")
    for start in ("0", "1"):
        lines = [{"stage": "teacher", "step": 16}, {"stage": "refine-8", "step": 8}]
        laid_out(tmp_path / "starts" / start, lines, ("01-teacher", "03-refine-8"))
    with open(tmp_path / "starts" / "1" / "metrics.jsonl", "a") as file:
        file.write('{"stage": "refine-8", ')
        file.flush()
        follower.advance("2 starts", 0.5, "")
        assert [(row["run"], row["total_step"], row["stage_number"]) for row in rows] == [
            ("starts/0", 16, 1),
            ("starts/0", 24, 3),
            ("starts/1", 16, 1),
            ("starts/1", 24, 3),
        ]
        file.write('"step": 16}\n')
    follower.note("done")
    assert rows[-1] == {
        "run": "starts/1",
        "stage_number": 3,
        "total_step": 32,
        "stage": "refine-8",
        "step": 16,
    }


def read_events(folder):
    """What a TensorBoard would draw: {name: [(step, value)]}."""
    from tensorboardX.proto import event_pb2

    event_of = vars(event_pb2)["Event"].FromString  # made when the module is imported

    found = {}
    (path,) = folder.glob("events.*")
    content = path.read_bytes()
    while content:
        # a record: length, its checksum, the event, its checksum
        size = int.from_bytes(content[:8], "little")
        event, content = event_of(content[12 : 12 + size]), content[16 + size :]
        for value in event.summary.value:
            found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def test_tensorboard_gets_every_figure(task, tmp_path):
    out = tmp_path / "run"
    crisptree.train(task, out=out, config=CONFIG, track="tensorboard", progress=False)
    lines = metrics(out)
    for start in (0, 1):
        events = read_events(out / "tensorboard" / f"start-{start}")
        own = [line for line in lines if line.get("start") == start]
        known = [line["return"] for line in own if line["return"] is not None]
        assert [value for _, value in events["return"]] == pytest.approx(known)
        assert [step for step, _ in events["stage"]] == [128 * (i + 1) for i in range(len(own))]
        assert {"steps_per_second", "policy_loss", "value_loss"} <= set(events)
        losses = [line["policy_loss"] for line in own]
        assert [value for _, value in events["policy_loss"]] == pytest.approx(losses)


def test_weights_and_biases_gets_one_run(tmp_path, monkeypatch):
    said = []
    run = SimpleNamespace(
        define_metric=lambda *a, **k: said.append(("define", a, k)),
        log=lambda figures: said.append(("log", figures)),
        finish=lambda: said.append("finished"),
    )
    init = lambda **asked: said.append(asked) or run
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    row = {"run": "start-1", "stage_number": 2, "total_step": 24, "stage": "refine-8", "step": 8}
    with tracked("wandb", tmp_path / "mine", CONFIG) as hear:
        assert hear is not None
        hear({**row, "start": 1, "return": 7.5, "policy_loss": None})
        hear({**row, "run": "", "return": None})
    assert said == [
        {"project": "crisptree", "name": "mine", "config": to_dict(CONFIG)},
        ("define", ("start-1/total_step",), {}),
        ("define", ("start-1/*",), {"step_metric": "start-1/total_step"}),
        ("log", {"start-1/return": 7.5, "start-1/stage": 2, "start-1/total_step": 24}),
        ("define", ("total_step",), {}),
        ("define", ("*",), {"step_metric": "total_step"}),
        ("log", {"stage": 2, "total_step": 24}),
        "finished",
    ]


def test_figures_that_are_unknown_are_left_out():
    row = {"run": "", "stage_number": 1, "total_step": 8, "stage": "soft", "step": 8}
    assert scalars({**row, "return": None, "value_loss": 0.0}) == {"value_loss": 0.0, "stage": 1}


@pytest.mark.parametrize(
    ("tracker", "module", "remedy"),
    [
        ("tensorboard", "tensorboardX", r"pip install 'crisptree\[track\]'"),
        ("wandb", "wandb", "pip install wandb"),
    ],
)
def test_without_the_package_one_line_says_what_to_install(
    tracker, module, remedy, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, module, None)
    with (
        pytest.raises(CrisptreeError, match=remedy),
        tracked(tracker, tmp_path, CONFIG),
    ):
        pass


def test_an_unknown_tracker_is_refused(tmp_path):
    with (
        pytest.raises(CrisptreeError, match="tensorboard or wandb"),
        tracked("x", tmp_path, CONFIG),
    ):
        pass
