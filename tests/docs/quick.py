"""Trainings in no time: what is asked is checked as ever, what comes out is copied.

One training is real, if small; its directory stands for all of the same shape.
"""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from crisptree.crisp import CrispTree
from crisptree.crispen.expert import read_expert
from crisptree.envs.spaces import Task, describe
from crisptree.pipeline.directory import RunDirectory
from crisptree.pipeline.report import Reporter, Silent
from crisptree.pipeline.settings import Settings
from crisptree.pipeline.teachers import external_teacher
from crisptree.pipeline.train import Trained


def quick_train(template: Path) -> Callable[..., Trained]:
    """In place of `crisptree.pipeline.train.train`."""

    def train(
        settings: Settings, out: Path, *, resume: bool = False, tell: Reporter | None = None
    ) -> Trained:
        task = describe(settings.env)
        if settings.start_from is not None:
            read_expert(settings.start_from, task)
        if settings.teacher not in (None, "mlp", "soft"):
            external_teacher(settings.teacher, task)
        if resume:
            directory, _ = RunDirectory.resume(out)
        else:
            directory = RunDirectory.create(out, {"settings": settings.to_dict()})
            for name in ("metrics.jsonl", "policy.json", "policy.svg", "summary.json"):
                shutil.copy(template / name, out / name)
            shutil.copytree(template / "stages", out / "stages")
            tree_for(task, CrispTree.load(out / "policy.json")).save(out / "policy.json")
        (tell or Silent()).advance("quick", 1.0, "")
        summary = directory.read_json("summary.json")
        assert isinstance(summary, dict)
        return Trained(CrispTree.load(out / "policy.json"), summary, out)

    return train


def tree_for(task: Task, tree: CrispTree) -> CrispTree:
    """The template's tree where it fits, else a tree of two leaves."""
    if (tree.n_features, tree.n_actions) == (task.n_features, task.n_actions):
        return replace(tree, env_id=task.env_id)
    nested = (0, 0.5, task.n_actions - 1, 0)
    return CrispTree.from_nested(nested, task.feature_names, task.action_names, env_id=task.env_id)
