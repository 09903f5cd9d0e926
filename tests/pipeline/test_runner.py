"""The runner, with stages that only count."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from small import small_config

from crisptree.crisp import CrispTree
from crisptree.envs.task import task_of
from crisptree.pipeline.progress import Silent
from crisptree.pipeline.run_directory import RunDirectory
from crisptree.pipeline.runner import run_stages, stage_key, stage_seed
from crisptree.pipeline.stage import Artifacts, Stage

TREE = CrispTree.from_nested(
    ("pole angle", 0.0, 1, 0),
    ("cart position", "cart velocity", "pole angle", "pole angular velocity"),
    ("push left", "push right"),
)


@dataclass(frozen=True)
class Count(Stage):
    """Counts its runs in a list, and moves the threshold by the stage's seed."""

    name: str
    runs: list
    number: int = 1
    weight: float = 1.0

    def settings(self, config):
        return {"number": self.number}

    def run(self, inputs, context):
        self.runs.append(self.name)
        before = 0.0 if inputs.tree is None else float(inputs.tree.threshold[0])
        threshold = np.array([before + self.number, 0.0, 0.0])
        tree = replace(TREE, threshold=threshold)
        return Artifacts(tree=tree, figures={"leaves": 2, "late": context.deadline < 1e300})


@pytest.fixture(scope="module")
def task():
    return task_of("CartPole-v1")


def run(stages, path, task, **options) -> tuple[Any, list]:
    path.mkdir(exist_ok=True)
    return run_stages(stages, task, small_config(), 3, RunDirectory(path), Silent(), **options)


def test_stages_run_in_a_row_and_leave_their_records(task, tmp_path):
    runs: list = []
    made, records = run([Count("one", runs), Count("two", runs, 5)], tmp_path / "run", task)
    assert runs == ["one", "two"]
    assert made.tree.threshold[0] == 6.0
    assert [record["stage"] for record in records] == ["one", "two"]
    folder = tmp_path / "run" / "stages" / "02-two"
    assert CrispTree.load(folder / "policy.json") == made.tree
    directory = RunDirectory(tmp_path / "run")
    assert directory.read_checked("stages/02-two/result.json") == records[1]


def test_a_finished_stage_is_read_and_not_run_again(task, tmp_path):
    runs: list = []
    stages = [Count("one", runs), Count("two", runs, 5)]
    first = run(stages, tmp_path / "run", task)
    (tmp_path / "run" / "stages" / "02-two" / "result.json").unlink()
    again = run(stages, tmp_path / "run", task)
    assert runs == ["one", "two", "two"]
    assert again[0].tree == first[0].tree


@dataclass(frozen=True)
class Look(Count):
    """Remembers what the stage before it came to."""

    def run(self, inputs, context):
        self.runs.append(inputs.figures["leaves"])
        return replace(inputs, figures={})


def test_the_figures_of_a_finished_stage_are_handed_on_too(task, tmp_path):
    seen: list = []
    stages = [Count("one", []), Look("two", seen)]
    run(stages, tmp_path / "run", task)
    (tmp_path / "run" / "stages" / "02-two" / "result.json").unlink()
    run(stages, tmp_path / "run", task)
    assert seen == [2, 2]


def test_a_stage_whose_inputs_changed_runs_again(task, tmp_path):
    runs: list = []
    run([Count("one", runs), Count("two", runs)], tmp_path / "run", task)
    run([Count("one", runs, 9), Count("two", runs)], tmp_path / "run", task)
    assert runs == ["one", "two", "one", "two"]


def test_stages_are_shared_by_their_keys(task, tmp_path):
    runs: list = []
    shared = tmp_path / "shared"
    run([Count("one", runs), Count("two", runs)], tmp_path / "a", task, reuse=shared)
    made, _ = run([Count("one", runs), Count("two", runs, 7)], tmp_path / "b", task, reuse=shared)
    assert runs == ["one", "two", "two"]
    assert made.tree.threshold[0] == 8.0


def test_a_folder_of_shared_stages_that_cannot_be_written_stops_nothing(task, tmp_path):
    (tmp_path / "file").touch()
    made, _ = run([Count("one", [])], tmp_path / "a", task, reuse=tmp_path / "file" / "shared")
    assert made.tree.threshold[0] == 1.0


def test_a_key_depends_on_all_that_the_outcome_depends_on(task):
    config = small_config()
    one = stage_key(Count("one", []), config, task, 3, "")
    assert one == stage_key(Count("one", []), config, task, 3, "")
    others = [
        stage_key(Count("two", []), config, task, 3, ""),
        stage_key(Count("one", [], 2), config, task, 3, ""),
        stage_key(Count("one", []), config, task, 4, ""),
        stage_key(Count("one", []), config, task, 3, "before"),
        stage_key(Count("one", []), small_config("CartPole-v0"), task, 3, ""),
    ]
    assert len({one, *others}) == 6


def test_no_two_stages_share_their_randomness():
    seeds = {stage_seed(seed, name) for seed in range(50) for name in ("one", "two", "three")}
    assert len(seeds) == 150


def test_time_is_shared_by_weight(task, tmp_path):
    seen = []

    @dataclass(frozen=True)
    class Look(Count):
        def run(self, inputs, context):
            seen.append(context.deadline - time.monotonic())
            return super().run(inputs, context)

    stages = [Look("one", [], weight=1.0), Look("two", [], weight=3.0)]
    run(stages, tmp_path / "run", task, minutes=1.0)
    assert seen[0] == pytest.approx(15, abs=1)  # less what is left for scoring
    assert seen[1] == pytest.approx(57, abs=2)  # what is left over goes to the next
