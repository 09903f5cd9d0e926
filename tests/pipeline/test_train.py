"""The whole way by one command, in small, on CartPole."""

import contextlib
import io
import json
import math
import os
import shutil
from pathlib import Path

import gymnasium
import pytest
from runs import Stopped, metrics, read, timeless

from crisptree import cli
from crisptree.crisp import CrispTree
from crisptree.envs.seeds import episode_seeds
from crisptree.pipeline.settings import Settings
from crisptree.pipeline.train import train
from crisptree.show import as_svg

pytestmark = pytest.mark.usefixtures("tiny")

SETTINGS = Settings("CartPole-v1", leaves=2, seed=3, episodes=4)
COMMAND = "train CartPole-v1 --leaves 2 --seed 3 --episodes 4"


@pytest.fixture(scope="module")
def run(tiny, tmp_path_factory) -> tuple[Path, str, str]:
    """The directory, and what was said on standard output and on standard error."""
    path = tmp_path_factory.mktemp("runs") / "run"
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        cli.main([*COMMAND.split(), "--out", str(path), "--json"])
    return path, out.getvalue(), err.getvalue()


def test_the_directory(run):
    path, *_ = run
    assert set(os.listdir(path)) == {
        "config.json",
        "metrics.jsonl",
        "stages",
        "policy.json",
        "policy.svg",
        "summary.json",
    }
    stages = sorted(os.listdir(path / "stages"))
    assert stages[0] == "01-direct-4"
    assert stages[-1].endswith("-search")
    assert all((path / "stages" / stage / "result.json").exists() for stage in stages)
    assert read(path / "config.json")["settings"] == {
        **SETTINGS.to_dict(),
        "starts": 1,
        "direct": True,
    }


def test_json_is_one_object_and_nothing_else(run):
    path, out, err = run
    assert json.loads(out) == read(path / "summary.json")
    assert out.count("\n") == 1
    assert "direct-4" in err  # a line for every stage goes elsewhere
    assert "simplify" in err


def test_metrics_have_a_line_an_update(run):
    path, *_ = run
    lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        assert {"stage", "step", "return", "steps_per_second"} <= set(line)
        assert line["steps_per_second"] > 0
        assert line["return"] is None or line["return"] >= 8
    direct = [line for line in lines if line["stage"] == "direct-4"]
    assert [(line["step"], line["start"]) for line in direct] == [
        (128 * (update + 1), start) for update in range(16) for start in (0, 1)
    ]


def test_the_summary(run):
    path, *_ = run
    summary, tree = read(path / "summary.json"), CrispTree.load(path / "policy.json")
    assert summary["leaves"] == tree.n_leaves <= 2
    assert summary["depth"] == tree.depth
    assert summary["seed"] == 3
    assert summary["episodes"] == 4
    assert summary["gap"] == summary["soft_return"] - summary["crisp_return"]
    span = max(summary["soft_return"], summary["crisp_return"]) - summary["random_return"]
    assert summary["gap_share"] == pytest.approx(summary["gap"] / span)
    assert 10 < summary["random_return"] < 40
    assert summary["seconds"] > 0
    stages = summary["stages"]
    assert summary["steps"] == sum(stage.get("steps", 0) for stage in stages)
    assert stages[0]["steps"] == 2 * 16 * 128
    assert summary["seconds"] == pytest.approx(sum(s["seconds"] for s in stages), abs=0.01)
    assert summary["selection_return"] == stages[-1]["selection_return"]
    assert summary["command"].startswith("crisptree train CartPole-v1 --leaves 2 --seed 3")
    assert [
        read(path / "stages" / s / "result.json") for s in sorted(os.listdir(path / "stages"))
    ] == stages


def test_the_crisp_return_is_that_of_the_policy_file_in_the_real_environment(run):
    """Played once more as anyone would, on the reporting seeds."""
    path, *_ = run
    tree, env, returns = CrispTree.load(path / "policy.json"), gymnasium.make("CartPole-v1"), []
    for seed in episode_seeds("reporting", 3, 4):
        observation, _ = env.reset(seed=seed)
        steps, over = 0, False
        while not over:
            observation, _, terminated, truncated, _ = env.step(int(tree.predict(observation)[0]))
            steps, over = steps + 1, terminated or truncated
        returns.append(steps)
    summary = read(path / "summary.json")
    assert summary["crisp_return"] == sum(returns) / 4
    assert summary["crisp_return_min"] == min(returns)
    mean = sum(returns) / 4
    error = math.sqrt(sum((r - mean) ** 2 for r in returns) / 3 / 4)
    assert summary["crisp_return_se"] == pytest.approx(error)
    assert tree.training["crisp_return"] == summary["crisp_return"]
    assert tree.training["command"] == summary["command"]
    assert tree.env_id == "CartPole-v1"


def test_the_drawing_is_of_the_policy(run):
    path, *_ = run
    tree = CrispTree.load(path / "policy.json")
    assert (path / "policy.svg").read_text(encoding="utf-8") == as_svg(tree)


def test_the_same_seed_gives_the_same_bytes(run, tmp_path):
    path, *_ = run
    again = train(SETTINGS, tmp_path / "again")
    for name in ("policy.json", "policy.svg"):
        assert (tmp_path / "again" / name).read_bytes() == (path / name).read_bytes()
    assert metrics(tmp_path / "again") == metrics(path)
    assert timeless(read(tmp_path / "again" / "summary.json")) == timeless(
        read(path / "summary.json")
    )
    assert again.tree is not None
    assert again.tree.to_dict() == CrispTree.load(path / "policy.json").to_dict()
    assert again.summary == read(tmp_path / "again" / "summary.json")


def test_another_seed_trains_another_tree(run, tmp_path):
    path, *_ = run
    train(Settings("CartPole-v1", leaves=2, seed=4, episodes=4), tmp_path / "other")
    assert metrics(tmp_path / "other")[0] != metrics(path)[0]


@pytest.mark.parametrize(
    "stops",
    [
        [("direct", 2)],  # before the first checkpoint
        [("direct", 4)],  # with a checkpoint just written
        [("direct", 7)],  # past one
        [("direct", 14), ("direct", 1)],  # past those with snapshots; and once more
        [("direct", 16)],  # all learned, nothing chosen
        [("simplify", 1)],
        [("scoring", 1)],
        [("direct", 6), ("simplify", 1), ("scoring", 1)],
    ],
    ids=str,
)
def test_interrupted_and_resumed_it_ends_the_same(run, tmp_path, stops):
    path, *_ = run
    here = tmp_path / "stopped"
    for count, (stage, after) in enumerate(stops):
        with pytest.raises(KeyboardInterrupt):
            train(SETTINGS, here, resume=count > 0, tell=Stopped(stage, after))
        assert not (here / "summary.json").exists()
        assert not (here / "policy.json").exists()
    train(SETTINGS, here, resume=True)
    for name in ("policy.json", "policy.svg"):
        assert (here / name).read_bytes() == (path / name).read_bytes()
    assert metrics(here) == metrics(path)
    assert timeless(read(here / "summary.json")) == timeless(read(path / "summary.json"))
    left = {str(file.relative_to(here)) for file in here.rglob("*")}
    assert left == {str(file.relative_to(path)) for file in path.rglob("*")}


def test_a_finished_run_is_not_run_again(run):
    path, *_ = run
    before = {file: file.stat().st_mtime_ns for file in path.rglob("*")}
    done = train(SETTINGS, path, resume=True, tell=Stopped("", 1))
    assert done.summary == read(path / "summary.json")
    assert {file: file.stat().st_mtime_ns for file in path.rglob("*")} == before


def test_a_run_cut_off_between_the_policy_and_the_summary_is_finished(run, tmp_path):
    path, *_ = run
    shutil.copytree(path, tmp_path / "copy")
    os.unlink(tmp_path / "copy" / "summary.json")
    train(SETTINGS, tmp_path / "copy", resume=True)
    assert timeless(read(tmp_path / "copy" / "summary.json")) == timeless(
        read(path / "summary.json")
    )


def test_resumed_settings_are_those_of_the_start(run, tmp_path):
    """Whatever is asked for with --resume."""
    path, *_ = run
    shutil.copytree(path, tmp_path / "copy")
    asked = Settings("CartPole-v1", leaves=7, seed=9)
    assert train(asked, tmp_path / "copy", resume=True).summary["seed"] == 3
