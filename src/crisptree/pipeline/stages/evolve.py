"""A tree with real actions, moved by the returns of whole episodes: all numbers of linear leaves at
once, constant leaves change by change."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from numpy.typing import NDArray

from crisptree.crisp import CrispTree
from crisptree.crispen.climb import climb
from crisptree.crispen.config import EvolveConfig
from crisptree.crispen.evolve import Evolved, evolve
from crisptree.crispen.prune import visited_states
from crisptree.crispen.select import Selection
from crisptree.envs.policy import Policy
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage


@dataclass(frozen=True)
class Evolve(Stage):
    name: str = "evolve"
    weight: float = 5.0
    share: float = 1.0
    """Share of the generations in the configuration."""

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "evolve": asdict(config.evolve),
            "share": self.share,
            "selection": asdict(config.selection),
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        tree, selection = inputs.tree, context.selection()
        assert tree is not None
        if context.is_late() or context.is_settled(tree, inputs.best_return):
            return replace(inputs, figures={"leaves": tree.n_leaves})
        done = (self._evolved if any(tree.gains) else self._climbed)(tree, selection, context)
        figures = {"leaves": done.tree.n_leaves, "selection_return": done.selection_return}
        return replace(inputs, tree=done.tree, figures=figures)

    def _evolved(self, tree: CrispTree, selection: Selection, context: Context) -> Evolved:
        return evolve(
            tree,
            self._settings(context),
            selection,
            states_met_by(tree, context),
            lambda tree: states_met_by(tree, context),
            context.rng(),
            report=lambda done, score: context.advance(done, f"return {score:8.4g}"),
            time_used=context.time_used(),
        )

    def _climbed(self, tree: CrispTree, selection: Selection, context: Context) -> Evolved:
        """Evolve a tree with constant leaves by changes of a few numbers, since each number acts by
        itself."""
        settings = self._settings(context)
        generations = settings.generations or 1
        climbed = climb(
            tree,
            settings,
            selection,
            lambda tree: states_met_by(tree, context),
            context.rng(),
            report=lambda done, score: context.advance(done / generations, f"return {score:8.4g}"),
            is_late=context.is_late,
        )
        index, score = selection.careful().race([tree, climbed], (context.config.prune.check,))
        return Evolved((tree, climbed)[index], score)

    def _settings(self, context: Context) -> EvolveConfig:
        config = context.config.evolve
        assert config.generations
        return replace(config, generations=max(1, round(self.share * config.generations)))


def states_met_by(policy: Policy, context: Context) -> NDArray:
    """A sample of the states that a policy visits."""
    return visited_states(
        policy,
        context.task,
        context.seed,
        most=context.config.selection.states,
        episodes=context.selection().scaled(32),
        until=context.selection().until(),
    )
