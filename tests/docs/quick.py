"""Trainings in no time: what is asked is checked as ever, what comes out is copied.

One training is real, if small; its directory stands for all of the same shape.
"""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from crisptree.crisp import CrispTree
from crisptree.crispen.expert import read_expert
from crisptree.envs.task import Task
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import to_dict
from crisptree.pipeline.progress import Reporter, Silent
from crisptree.pipeline.resolve import resolve
from crisptree.pipeline.run_directory import RunDirectory
from crisptree.pipeline.teachers import external_teacher
from crisptree.pipeline.timing import Measurement
from crisptree.pipeline.train import Trained


def quick_train(template: Path) -> Callable[..., Trained]:
    """In place of `crisptree.pipeline.train.train`."""

    def train(
        config: TrainConfig,
        task: Task,
        out: Path,
        *,
        resume: bool = False,
        report: Reporter | None = None,
    ) -> Trained:
        resolved = resolve(config, task, Measurement(1e5, 100.0))
        if config.start_from is not None:
            read_expert(Path(config.start_from), task)
        if config.teacher.policy is not None:
            external_teacher(config.teacher.policy, task)
        if resume:
            directory = RunDirectory.existing(out)
        else:
            directory = RunDirectory.create(out)
            directory.write_json("config.json", {"config": to_dict(resolved)})
            for name in ("metrics.jsonl", "policy.json", "policy.svg", "summary.json"):
                shutil.copy(template / name, out / name)
            shutil.copytree(template / "stages", out / "stages")
            tree_for(task, CrispTree.load(out / "policy.json")).save(out / "policy.json")
        (report or Silent()).advance("quick", 1.0, "")
        summary = directory.read_json("summary.json")
        assert summary is not None
        return Trained(CrispTree.load(out / "policy.json"), summary, out)

    return train


def tree_for(task: Task, tree: CrispTree) -> CrispTree:
    """The template's tree where it fits, else a tree of two leaves."""
    if (tree.n_features, tree.n_actions) == (task.n_features, task.n_actions):
        return replace(tree, env_id=task.env_id)
    if task.actions.kind == "box":
        middle = [
            (low + high) / 2 for low, high in zip(task.actions.low, task.actions.high, strict=True)
        ]
        return CrispTree.from_nested(middle, **task.signature)
    return CrispTree.from_nested((0, 0.5, task.n_actions - 1, 0), **task.signature)
