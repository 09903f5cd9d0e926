"""Following a training, in small: every update is heard of once, wherever it was made."""

import json
import sys
from types import SimpleNamespace

import pytest
from crisptree.pipeline.report import Reporter, Silent
from crisptree.pipeline.settings import Settings
from crisptree.pipeline.track import Follower, followed, scalars, tracked
from runs import Stopped, metrics

import crisptree
from crisptree import cli
from crisptree.base.errors import CrisptreeError
from crisptree.pipeline.train import train

ASKED = {"leaves": 2, "seed": 3, "episodes": 4}
ADDED = ("run", "stage_number", "total_step", "steps_per_second")


def bare(rows):
    return [{k: v for k, v in row.items() if k not in ADDED} for row in rows]


@pytest.fixture(scope="module")
def heard(tiny, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "run"
    rows = []
    crisptree.train("CartPole-v1", out=path, on_progress=rows.append, **ASKED)
    return path, rows


def test_on_progress_hears_every_line_once(heard):
    path, rows = heard
    assert bare(rows) == metrics(path)
    assert {row["run"] for row in rows} == {"start-0", "start-1"}


def test_steps_go_on_where_a_stage_starts_anew(heard):
    path, rows = heard
    for run in ("start-0", "start-1"):
        steps = [row["total_step"] for row in rows if row["run"] == run]
        assert steps == [128 * (at + 1) for at in range(len(steps))]
    for row in rows:
        folder = path / "stages" / f"{row['stage_number']:02d}-{row['stage']}"
        assert folder.is_dir()


def test_it_hears_while_the_training_runs(tiny, tmp_path):
    at = []

    def hear(row):
        at.append(row["step"])
        if len(at) == 9:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        crisptree.train("CartPole-v1", out=tmp_path / "run", on_progress=hear, **ASKED)
    assert not (tmp_path / "run" / "policy.json").exists()
    assert len(at) == 9


def test_a_resumed_run_says_nothing_twice_and_counts_on(tiny, tmp_path, heard):
    _, whole = heard
    settings, out = Settings("CartPole-v1", **ASKED), tmp_path / "run"
    first, rest = [], []
    with pytest.raises(KeyboardInterrupt), followed(Silent(), out, first.append) as tell:
        # the bar moves, and Ctrl-C comes, before the follower looks at this segment
        tell._tell = Stopped("direct", 3)
        train(settings, out, tell=tell)
    with followed(Silent(), out, rest.append) as tell:
        train(settings, out, resume=True, tell=tell)
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
    from tensorboardX.proto.event_pb2 import Event

    found = {}
    (path,) = folder.glob("events.*")
    content = path.read_bytes()
    while content:
        # a record: length, its checksum, the event, its checksum
        size = int.from_bytes(content[:8], "little")
        event, content = Event.FromString(content[12 : 12 + size]), content[16 + size :]
        for value in event.summary.value:
            found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def test_tensorboard_gets_every_figure(tiny, tmp_path, capsys):
    out = tmp_path / "run"
    command = f"train CartPole-v1 --leaves 2 --seed 3 --episodes 4 --track tensorboard --out {out}"
    cli.main(command.split())
    capsys.readouterr()
    lines = metrics(out)
    for start in (0, 1):
        events = read_events(out / "tensorboard" / f"start-{start}")
        own = [line for line in lines if line["start"] == start]
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
    with tracked("wandb", tmp_path / "mine", {"seed": 3}) as hear:
        hear({**row, "start": 1, "return": 7.5, "policy_loss": None})
        hear({**row, "run": "", "return": None})
    assert said == [
        {"project": "crisptree", "name": "mine", "config": {"seed": 3}},
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
        tracked(tracker, tmp_path, {}),
    ):
        pass


def test_an_unknown_tracker_is_refused(tmp_path):
    with pytest.raises(CrisptreeError, match="tensorboard or wandb"), tracked("x", tmp_path, {}):
        pass
