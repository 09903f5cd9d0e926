"""All numbers of a tree with real actions, moved at once."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from crisptree.crispen.evolve import evolve
from crisptree.crispen.prune import visited_states
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage


@dataclass(frozen=True)
class Evolve(Stage):
    name: str = "evolve"
    weight: float = 3.0

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {"evolve": asdict(config.evolve), "selection": asdict(config.selection)}

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        tree, config, selection = inputs.tree, context.config, context.selection()
        assert tree is not None
        if context.is_late() or context.is_settled(tree, inputs.best_return):
            return replace(inputs, figures={"leaves": tree.n_leaves})
        generations = config.evolve.generations
        assert generations
        states = visited_states(
            tree,
            context.task,
            context.seed,
            most=config.selection.states,
            episodes=selection.scaled(32),
            end=context.end,
        )
        tree = evolve(
            tree,
            config.evolve,
            selection,
            states,
            context.rng(),
            report=lambda done, score: context.advance(
                done / generations, f"the best of a generation {score:8.4g}"
            ),
            is_late=context.is_late,
        )
        score = selection.mean(tree, config.selection.final)
        figures = {"leaves": tree.n_leaves, "selection_return": score}
        return replace(inputs, tree=tree, figures=figures)
