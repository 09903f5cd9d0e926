"""An expert's tree, read from a policy file or from rules in words."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crisptree.crispen.expert import read_expert
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage
from crisptree.pipeline.teachers import values_seen_by


@dataclass(frozen=True)
class Expert(Stage):
    name: str = "expert"
    weight: float = 0.1

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {"start_from": config.start_from}

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        assert context.config.start_from is not None
        tree = read_expert(Path(context.config.start_from), context.task)
        values = values_seen_by(tree, context)
        return replace(inputs, tree=tree, values=values, figures={"leaves": tree.n_leaves})
