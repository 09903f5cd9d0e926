"""A whole training, in small, on CartPole."""

import json
import math
import os
import shutil
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import gymnasium
import pytest
from runs import Stopped, metrics, read, timeless
from small import SHORT_PENDULUM, small_config

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.crisp.derived import derived_feature
from crisptree.crispen.config import DeriveConfig
from crisptree.envs.seeds import episode_seeds
from crisptree.envs.task import task_of
from crisptree.pipeline.config import CandidateConfig, EnvConfig, PolicyConfig, TeacherConfig
from crisptree.pipeline.config_io import config_hash, from_dict
from crisptree.pipeline.run_directory import RunDirectory
from crisptree.pipeline.train import TrainConfig, train
from crisptree.show import as_svg

CONFIG = small_config()


@pytest.fixture(scope="module")
def task():
    return task_of("CartPole-v1")


@pytest.fixture(scope="module")
def run(task, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "run"
    train(CONFIG, task, path)
    return path


def test_the_directory(run):
    assert set(os.listdir(run)) == {
        ".lock",
        "config.json",
        "metrics.jsonl",
        "stages",
        "policy.json",
        "policy.svg",
        "summary.json",
    }
    stages = sorted(os.listdir(run / "stages"))
    assert stages[0] == "01-direct"
    assert stages[-1].endswith("-mend")
    assert all((run / "stages" / stage / "result.json").exists() for stage in stages)


def test_the_resolved_configuration_is_there_with_its_hash(run):
    record = read(run / "config.json")
    config = from_dict(TrainConfig, record["config"])
    assert record["config_hash"] == config_hash(config)
    assert read(run / "summary.json")["config_hash"] == record["config_hash"]
    assert None not in (config.steps, config.selection.scale, config.candidates.count)


def test_metrics_have_a_line_for_each_update(run):
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        assert {"stage", "step", "return", "steps_per_second"} <= set(line)
        assert line["steps_per_second"] > 0
        assert line["return"] is None or line["return"] >= 8
    direct = [line["step"] for line in lines if line["stage"] == "direct"]
    assert direct == [128 * (update + 1) for update in range(16)]


def test_the_summary(run):
    summary, tree = read(run / "summary.json"), CrispTree.load(run / "policy.json")
    assert summary["leaves"] == tree.n_leaves <= 2
    assert summary["depth"] == tree.depth
    assert (summary["seed"], summary["episodes"]) == (3, 4)
    assert summary["gap"] == summary["soft_return"] - summary["crisp_return"]
    assert 10 < summary["random_return"] < 40
    stages = summary["stages"]
    assert summary["steps"] == sum(stage.get("steps", 0) for stage in stages)
    scored = [stage["selection_return"] for stage in stages if "selection_return" in stage]
    assert summary["selection_return"] == scored[-1]
    folders = sorted(os.listdir(run / "stages"))
    directory = RunDirectory(run)
    assert [directory.read_checked(f"stages/{name}/result.json") for name in folders] == stages


def test_the_crisp_return_is_that_of_the_policy_file_in_the_real_environment(run):
    """Played once more as anyone would, on the reporting seeds."""
    tree, env, returns = CrispTree.load(run / "policy.json"), gymnasium.make("CartPole-v1"), []
    for seed in episode_seeds("reporting", 3, 4):
        observation, _ = env.reset(seed=seed)
        steps, over = 0, False
        while not over:
            observation, _, terminated, truncated, _ = env.step(int(tree.predict(observation)[0]))
            steps, over = steps + 1, terminated or truncated
        returns.append(steps)
    summary = read(run / "summary.json")
    mean = sum(returns) / 4
    assert summary["crisp_return"] == mean
    assert summary["crisp_return_min"] == min(returns)
    error = math.sqrt(sum((r - mean) ** 2 for r in returns) / 3 / 4)
    assert summary["crisp_return_se"] == pytest.approx(error)
    assert tree.training["crisp_return"] == summary["crisp_return"]
    assert tree.training["config_hash"] == summary["config_hash"]
    assert tree.env_id == "CartPole-v1"


def test_the_drawing_is_of_the_policy(run):
    tree = CrispTree.load(run / "policy.json")
    assert (run / "policy.svg").read_text(encoding="utf-8") == as_svg(tree)


def assert_same(ours: Path, theirs: Path) -> None:
    for name in ("policy.json", "policy.svg"):
        assert (ours / name).read_bytes() == (theirs / name).read_bytes()
    assert metrics(ours) == metrics(theirs)
    assert timeless(read(ours / "summary.json")) == timeless(read(theirs / "summary.json"))


def test_the_same_seed_gives_the_same_bytes(run, task, tmp_path):
    train(CONFIG, task, tmp_path / "again")
    assert_same(tmp_path / "again", run)


def test_another_seed_trains_another_tree(run, task, tmp_path):
    train(replace(CONFIG, seed=4), task, tmp_path / "other")
    assert metrics(tmp_path / "other")[0] != metrics(run)[0]


@pytest.mark.parametrize(
    "stops",
    [
        [("direct", 2)],  # before the first checkpoint
        [("direct", 7)],  # past one
        [("direct", 14), ("direct", 2)],  # past those with snapshots; and once more
        [("simplify", 1)],
        [("direct", 6), ("search", 2), ("scoring", 1)],
    ],
    ids=str,
)
def test_interrupted_and_resumed_it_ends_the_same(run, task, tmp_path, stops):
    here = tmp_path / "stopped"
    for count, (stage, after) in enumerate(stops):
        with pytest.raises(KeyboardInterrupt):
            train(CONFIG, task, here, resume=count > 0, report=Stopped(stage, after))
        assert not (here / "summary.json").exists()
        assert not (here / "policy.json").exists()
    train(CONFIG, task, here, resume=True)
    assert_same(here, run)
    left = {str(file.relative_to(here)) for file in here.rglob("*")}
    assert left == {str(file.relative_to(run)) for file in run.rglob("*")}


def test_a_finished_run_is_not_run_again(run, task):
    before = {file: file.stat().st_mtime_ns for file in run.rglob("*.json")}
    done = train(CONFIG, task, run, resume=True, report=Stopped("", 1))
    assert done.summary == read(run / "summary.json")
    assert {file: file.stat().st_mtime_ns for file in run.rglob("*.json")} == before


def test_a_resumed_run_keeps_its_configuration(run, task, tmp_path):
    """Whatever is asked for with --resume."""
    shutil.copytree(run, tmp_path / "copy")
    asked = small_config(seed=9, policy=PolicyConfig("tree", 7))
    assert train(asked, task, tmp_path / "copy", resume=True).summary["seed"] == 3


@pytest.mark.parametrize("beginning", ["mlp", "soft", "dqn"])
def test_every_teacher_can_be_learned_from(task, tmp_path, beginning):
    config = small_config(candidates=CandidateConfig((beginning,), 1))
    done = train(config, task, tmp_path / "run")
    assert done.tree is not None and done.tree.n_leaves <= 2
    assert done.summary["beginning"] == beginning


def test_derived_features_of_a_teacher(task, tmp_path):
    lean = derived_feature(((3, 1.0), (2, 3.0)), task.features)
    features = (*task.features, lean)
    teacher = CrispTree.from_nested(
        (lean.name, 0.0, 1, 0), **{**task.signature, "features": features}
    )
    teacher.save(tmp_path / "teacher.json")
    config = small_config(
        candidates=CandidateConfig(("external",), 1),
        teacher=TeacherConfig(policy=str(tmp_path / "teacher.json")),
        derive=DeriveConfig(enabled=True, rounds=1),
    )
    done = train(config, task, tmp_path / "run")
    assert done.tree is not None
    (derived,) = done.tree.features[4:]
    assert {feature for feature, _ in derived.terms} >= {2, 3}
    assert done.summary["crisp_return"] > 200
    saved = CrispTree.load(tmp_path / "run" / "policy.json")
    assert saved == done.tree
    with pytest.raises(KeyboardInterrupt):
        train(config, task, tmp_path / "stopped", report=Stopped("distill", 1))
    train(config, task, tmp_path / "stopped", resume=True)
    assert CrispTree.load(tmp_path / "stopped" / "policy.json") == saved


def test_a_rule_list_from_scratch(task, tmp_path):
    done = train(small_config(policy=PolicyConfig("list", 2)), task, tmp_path / "run")
    assert done.tree is not None and done.tree.is_rule_list and done.tree.n_leaves <= 3


@pytest.mark.parametrize(
    ("leaf", "beginning"),
    [
        ("constant", "direct"),
        ("linear", "direct"),
        ("linear", "sac"),
        ("constant", "rule"),
        ("linear", "rule"),
    ],
)
def test_real_actions(tmp_path, leaf, beginning):
    config = small_config(
        "Pendulum-v1",
        policy=PolicyConfig("tree", 2, leaf, 1),
        candidates=CandidateConfig((beginning,), 1),
    )
    done = train(config, task_of("Pendulum-v1", SHORT_PENDULUM), tmp_path / "run")
    assert done.tree is not None and done.tree.actions.kind == "box"
    action, _ = done.tree.predict(gymnasium.make("Pendulum-v1").reset(seed=0)[0])
    assert action.shape == (1,) and action.dtype == "float32"
    assert max(map(len, done.tree.gains), default=0) <= 1  # as many as asked for
    teacher = tmp_path / "run" / "stages" / "01-teacher-sac" / "teacher.eqx"
    assert teacher.exists() == (beginning == "sac")
    if beginning == "sac":
        assert teacher.stat().st_size < 100_000  # without the replay buffer


def test_a_transition_table_is_solved(tmp_path):
    config = small_config(
        "CliffWalking-v1",
        env=EnvConfig("CliffWalking-v1", {"max_episode_steps": 100}),
        policy=PolicyConfig("tree", 4),
        candidates=CandidateConfig(),
    )
    task = task_of("CliffWalking-v1", {"max_episode_steps": 100})
    done = train(config, task, tmp_path / "run")
    assert done.summary["beginning"] == "exact"
    assert done.summary["crisp_return"] == -13


def test_several_seeds_are_all_reported(task, tmp_path):
    done = train(replace(CONFIG, seeds=2), task, tmp_path / "run")
    assert done.summary["seeds"] == [3, 4]
    assert len(done.summary["crisp_return"]["every"]) == 2
    best = done.summary["policy_of_seed"]
    assert done.tree == CrispTree.load(tmp_path / "run" / f"seed-{best}" / "policy.json")


def test_a_file_never_gets_code_imported(run, task, tmp_path):
    shutil.copytree(run, tmp_path / "copy")
    record = read(tmp_path / "copy" / "config.json")
    for field, value in (("id", "evil:Evil-v0"), ("features", "evil:features")):
        changed = {**record["config"], "env": {**record["config"]["env"], field: value}}
        (tmp_path / "copy" / "config.json").write_text(json.dumps({"config": changed}))
        with pytest.raises(CrisptreeError, match="evil"):
            train(CONFIG, task, tmp_path / "copy", resume=True)


def test_what_fails_before_its_first_stage_leaves_nothing(task, tmp_path):
    config = small_config(
        teacher=TeacherConfig(policy="no_such_module:teach"), candidates=CandidateConfig()
    )
    with pytest.raises(CrisptreeError, match="no_such_module"):
        train(config, task, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_one_who_comes_second_removes_nothing(task, tmp_path, monkeypatch):
    """Both have seen that there is no folder; the first has the lock."""
    path, create = tmp_path / "run", RunDirectory.create

    def taken_meanwhile(out: Path) -> RunDirectory:
        create(out)
        (out / "the first one's").touch()
        return Taken(out)

    class Taken(RunDirectory):
        @contextmanager
        def locked(self, patience: float = 5.0):
            raise CrisptreeError("run is being written by process 1")
            yield

    monkeypatch.setattr(RunDirectory, "create", taken_meanwhile)
    with pytest.raises(CrisptreeError, match="being written"):
        train(CONFIG, task, path)
    assert (path / "the first one's").exists()
