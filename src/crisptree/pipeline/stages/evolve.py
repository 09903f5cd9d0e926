"""All numbers of a tree with real actions, moved at once."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from numpy.typing import NDArray

from crisptree.crispen.evolve import evolve
from crisptree.crispen.prune import visited_states
from crisptree.envs.policy import Policy
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage


@dataclass(frozen=True)
class Evolve(Stage):
    name: str = "evolve"
    weight: float = 3.0
    share: float = 1.0
    """Of the generations that the configuration says."""

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "evolve": asdict(config.evolve),
            "share": self.share,
            "selection": asdict(config.selection),
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        tree, config, selection = inputs.tree, context.config, context.selection()
        assert tree is not None
        if context.is_late() or context.is_settled(tree, inputs.best_return):
            return replace(inputs, figures={"leaves": tree.n_leaves})
        assert config.evolve.generations
        generations = max(1, round(self.share * config.evolve.generations))
        tree = evolve(
            tree,
            replace(config.evolve, generations=generations),
            selection,
            states_met_by(tree, context),
            lambda tree: states_met_by(tree, context),
            context.rng(),
            report=lambda done, score: context.advance(done / generations, f"return {score:8.4g}"),
            is_late=lambda: context.is_late() or not selection.affords(2, config.evolve.confirm),
        )
        score = selection.mean(tree, config.selection.final)
        figures = {"leaves": tree.n_leaves, "selection_return": score}
        return replace(inputs, tree=tree, figures=figures)


def states_met_by(policy: Policy, context: Context) -> NDArray:
    """A sample of the states that a policy meets on its own way."""
    return visited_states(
        policy,
        context.task,
        context.seed,
        most=context.config.selection.states,
        episodes=context.selection().scaled(32),
        until=context.selection().until(),
    )
