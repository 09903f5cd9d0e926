"""A model of the environment that is learned by trying every action in every state."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crisptree.envs.transition_table import TransitionTable
from crisptree.learn.exact_model import ExactModel
from crisptree.learn.exploration import Explored, explore
from crisptree.learn.value_iteration import NO_LIMIT, best_policy
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage

N_ENVS = 64
"""Environments that explore side by side."""


@dataclass(frozen=True)
class Explore(Stage):
    """The model, and the policy that is best on it."""

    name: str = "explore"
    weight: float = 1.0

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {"steps": config.steps}

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        assert context.config.steps is not None
        explored = explore(
            context.task,
            N_ENVS,
            context.config.steps,
            context.seed % 2**31,
            context.is_late,
            context.advance,
        )
        if explored is None:
            return replace(inputs, figures={"states": "too many"})
        return self._handed_on(inputs, explored, context)

    def save(self, made: Artifacts, folder: Path) -> None:
        explored: Explored | None = made.learner
        if explored is None:
            return
        columns = {**explored.table._asdict(), "start": explored.start}
        np.savez_compressed(folder / "table.npz", **columns, steps=explored.steps)

    def load(self, folder: Path, inputs: Artifacts, context: Context) -> Artifacts:
        if not (folder / "table.npz").exists():
            return inputs
        with np.load(folder / "table.npz") as kept:
            table = TransitionTable(*(kept[name] for name in TransitionTable._fields))
            explored = Explored(table, kept["start"], int(kept["steps"]))
        return self._handed_on(inputs, explored, context)

    def _handed_on(self, inputs: Artifacts, explored: Explored, context: Context) -> Artifacts:
        table, start, steps = explored
        horizon = context.task.max_steps or NO_LIMIT
        teacher, model = best_policy(table, start, horizon), ExactModel(table, start, horizon)
        figures = {"steps": steps, "states": len(start), "by_model": model.mean_return(teacher)}
        return replace(inputs, teacher=teacher, model=model, learner=explored, figures=figures)
