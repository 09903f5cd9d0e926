"""The teachers of a run's trees, or a network that is trained for comparison."""

from dataclasses import dataclass
from pathlib import Path

from crisptree.envs.policy import Policy
from crisptree.envs.task import Task
from crisptree.learn.value_iteration import solve
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.plan import first_stages
from crisptree.pipeline.progress import Reporter, Silent
from crisptree.pipeline.run_directory import RunDirectory
from crisptree.pipeline.runner import StageCheckpoints, run_stages
from crisptree.pipeline.stage import Artifacts, Context
from crisptree.pipeline.stages.teacher import Teacher

NETWORKS = ("mlp", "dqn")


@dataclass(frozen=True)
class Found:
    """A policy that is no tree, and what it is."""

    kind: str
    policy: Policy


def networks_of(run: Path, config: TrainConfig, task: Task) -> list[Found]:
    """The networks that the candidates of a finished run began with."""
    found = []
    for kind in NETWORKS:
        for folder in sorted(run.rglob(f"stages/*-teacher-{kind}")):
            if (folder / "result.json").exists() and (folder / "teacher.eqx").exists():
                found.append(Found(kind, _loaded(folder, kind, config, task)))
    return found


def trained_network(
    run: Path, config: TrainConfig, task: Task, minutes: float, report: Reporter
) -> Found:
    """A network that learns for a while, in a folder of its own."""
    stage = Teacher("teacher-mlp", "mlp")
    directory = RunDirectory(run / "network")
    directory.path.mkdir(parents=True, exist_ok=True)
    made, _ = run_stages([stage], task, config, config.seed, directory, report, minutes=minutes)
    assert made.teacher is not None
    return Found("mlp", made.teacher)


def exact_teacher(task: Task) -> Found:
    return Found("exact", solve(task))


def _loaded(folder: Path, kind: str, config: TrainConfig, task: Task) -> Policy:
    (stage, *_) = first_stages("dqn" if kind == "dqn" else "mlp", config)
    checkpoints = StageCheckpoints(RunDirectory(folder), "", stage.name, Silent())
    context = Context(task, config, 0, checkpoints, Silent(), stage.name)
    made = stage.load(folder, Artifacts(), context)
    assert made.teacher is not None
    return made.teacher
