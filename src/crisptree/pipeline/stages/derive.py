"""Derived features for the tree to ask for, found in what the teacher decides."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from crisptree.base.files import write_atomically
from crisptree.crisp.signature import Feature
from crisptree.crispen.derive import derive
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage
from crisptree.pipeline.stages.distill import episodes_of_a_round


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
        write_atomically(folder / "features.json", json.dumps(said))

    def load(self, folder: Path, inputs: Artifacts, context: Context) -> Artifacts:
        said = json.loads((folder / "features.json").read_text())
        derived = (
            Feature(each["name"], terms=tuple((i, weight) for i, weight in each["terms"]))
            for each in said
        )
        return replace(inputs, derived=tuple(derived))
