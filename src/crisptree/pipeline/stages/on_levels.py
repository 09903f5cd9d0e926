"""A stage that learns real actions as choices among levels. All others see real actions."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crisptree.crisp import CrispTree
from crisptree.crispen.level_choices import OfLevels, holds_levels, with_choices, with_values
from crisptree.envs.levels import Levels
from crisptree.envs.policy import Policy
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage


@dataclass(frozen=True)
class OnLevels(Stage):
    """Another stage, whose task has one choice for each dimension of the action. Trees hold choices
    inside, and real actions before and after it. Where a tree or a teacher takes other values than
    levels, it stays as it is, and so does the task."""

    stage: Stage
    name: str = ""
    weight: float = 1.0

    @staticmethod
    def of(stage: Stage) -> "OnLevels":
        """The stage, on levels; it keeps its name and its share of the time."""
        return OnLevels(stage, stage.name, stage.weight)

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {**self.stage.settings(config), "levels": config.teacher.levels}

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        levels = _levels(context)
        if not _is_on_levels(inputs, levels):
            return self.stage.run(inputs, context)
        made = self.stage.run(_choosing(inputs, levels), _inside(context, levels))
        return _acting(made, levels, context)

    def save(self, made: Artifacts, folder: Path) -> None:
        self.stage.save(made, folder)

    def load(self, folder: Path, inputs: Artifacts, context: Context) -> Artifacts:
        # Trees were saved outside, with real actions; a teacher inside, with choices.
        levels = _levels(context)
        made = self.stage.load(folder, inputs, _inside(context, levels))
        return replace(made, teacher=_real(made.teacher, levels, context))


def _levels(context: Context) -> Levels:
    return Levels(context.task.actions, context.config.teacher.levels)


def _inside(context: Context, levels: Levels) -> Context:
    """The context in which actions are choices, which do not evolve."""
    task = replace(context.task, actions=levels.choices, levels=levels)
    config = replace(context.config, evolve=replace(context.config.evolve, generations=0))
    return replace(context, task=task, config=config)


def _is_on_levels(made: Artifacts, levels: Levels) -> bool:
    if made.tree is not None:
        return holds_levels(made.tree, levels)
    return made.teacher is None or isinstance(made.teacher, OfLevels)


def _choosing(made: Artifacts, levels: Levels) -> Artifacts:
    def inside(tree: CrispTree | None) -> CrispTree | None:
        return None if tree is None else with_choices(tree, levels)

    teacher = made.teacher.policy if isinstance(made.teacher, OfLevels) else made.teacher
    return replace(made, tree=inside(made.tree), small=inside(made.small), teacher=teacher)


def _acting(made: Artifacts, levels: Levels, context: Context) -> Artifacts:
    def outside(tree: CrispTree | None) -> CrispTree | None:
        return None if tree is None else with_values(tree, levels)

    teacher = _real(made.teacher, levels, context)
    return replace(made, tree=outside(made.tree), small=outside(made.small), teacher=teacher)


def _real(teacher: Policy | None, levels: Levels, context: Context) -> Policy | None:
    """The teacher with real actions: those between levels are for leaves that can follow."""
    if teacher is None or isinstance(teacher, OfLevels):
        return teacher
    return OfLevels(teacher, levels, is_mean=context.config.policy.leaf == "linear")
