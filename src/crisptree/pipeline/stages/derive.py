"""Derived features for the tree to ask for, found in what the teacher decides."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.crisp.signature import Feature
from crisptree.crisp.signature_checks import features
from crisptree.crispen.derive import derive
from crisptree.envs.task import Task
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import from_dict
from crisptree.pipeline.run_directory import RunDirectory
from crisptree.pipeline.stage import Artifacts, Context, Stage
from crisptree.pipeline.stages.distill import episodes_of_a_round

FILE = "features.json"


@dataclass(frozen=True)
class Derive(Stage):
    """Sums of a few features; the tree, where there is no teacher, is its own."""

    name: str = "derive"
    weight: float = 1.0

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "derive": asdict(config.derive),
            "episodes": config.distill.episodes,
            "leaves": config.policy.leaves,
            "selection": asdict(config.selection),
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        teacher = inputs.teacher or inputs.tree
        assert teacher is not None
        config = context.config.derive
        found = derive(
            teacher,
            context.task,
            context.config.policy.leaves,
            config,
            seed=context.seed,
            episodes=episodes_of_a_round(context),
            report=lambda round_, found, score: context.advance(
                round_ / config.rounds, f"{len(found)} derived features, return {score:8.4g}"
            ),
            is_late=context.is_late,
            end=context.end,
        )
        return replace(inputs, derived=found, figures={"derived": [each.name for each in found]})

    def save(self, made: Artifacts, folder: Path) -> None:
        said = [{"name": each.name, "terms": each.terms} for each in made.derived]
        RunDirectory(folder).write_checked(FILE, {"features": said})

    def load(self, folder: Path, inputs: Artifacts, context: Context) -> Artifacts:
        return replace(inputs, derived=derived_in(folder, context.task))


def derived_in(folder: Path, task: Task) -> tuple[Feature, ...]:
    """The derived features that the stage has left in its folder."""
    said = (RunDirectory(folder).read_checked(FILE) or {}).get("features")
    try:
        if not isinstance(said, list):
            raise CrisptreeError("it has no list of features")
        derived = [from_dict(Feature, each, f"features[{at}]") for at, each in enumerate(said)]
        checked = features((*task.features, *derived), None)
    except CrisptreeError as error:
        raise CrisptreeError(f"{folder / FILE} is damaged: {error}") from error
    return checked[len(task.features) :]
