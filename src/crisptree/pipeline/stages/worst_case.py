"""The stage that makes the worst starts count: small changes to the crisp tree, judged by them."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from crisptree.crispen.worst_case import improved, tail
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage
from crisptree.pipeline.trials import EpisodeTrial, PlantTrial, plant_for

MOST_TURNS = 8
"""Turns of improving the tree and of looking for a start that breaks it."""


@dataclass(frozen=True)
class WorstCase(Stage):
    name: str = "worst-case"
    weight: float = 8.0

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {"worst_case": asdict(config.worst_case), "leaves": config.policy.leaves}

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        config, settings, rng = context.config, context.config.worst_case, context.rng()
        assert inputs.tree is not None
        plant = plant_for(context.task)
        if plant is not None and len(inputs.tree.features) != len(plant.feature_names):
            plant = None  # derived features: the plant does not show them
        trial: PlantTrial | EpisodeTrial = (
            EpisodeTrial(context.task, context.seed, context.end)
            if plant is None
            else PlantTrial(plant, settings, rng, context.seed)
        )
        context.report.note(f"  {trial.in_words}")
        tree, found = inputs.tree, None
        for _ in range(MOST_TURNS):
            tree, _ = improved(
                tree,
                trial,
                settings,
                config.policy.leaves,
                rng,
                report=lambda number, tree, judged: context.advance(
                    number / settings.rounds, f"{tree.n_leaves} leaves, worst {judged[0]:.4g}"
                ),
                is_late=context.is_late,
            )
            found = trial.counterexample(tree, context.end)
            if found is None or context.is_late():
                break
            assert isinstance(trial, PlantTrial), "seeds have no counterexamples"
            trial.more.append(found)
        # Changes were chosen one by one, partly by luck, so the tree before them is compared again.
        trees = [tree, inputs.tree.simplify()]
        scores = trial.scores(trees, trial.starts(2 * settings.starts))
        judged = [tail(each, settings.share) for each in scores]
        best = int(np.argmax([worst for worst, _ in judged]))
        # A plant's own score is above zero only where every start stays within the limits.
        is_safe = plant is not None and found is None and bool(scores[best].min() > 0)
        figures = {
            "leaves": trees[best].n_leaves,
            "worst_case": judged[best][0],
            "worst_start": float(scores[best].min()),
            "selection_return": context.selection().mean(trees[best], config.selection.final),
            "settled": is_safe,
        }
        return replace(inputs, tree=trees[best], figures=figures)
