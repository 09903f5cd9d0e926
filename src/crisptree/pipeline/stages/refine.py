"""A crisp tree is softened, learns on where it stands, and turns crisp again."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from crisptree.crisp import CrispTree
from crisptree.crispen.refine import Refined, Snapshot, anneal, polish
from crisptree.crispen.soften import soften
from crisptree.learn import ppo
from crisptree.learn.config import PPOConfig
from crisptree.learn.stacks import stack
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage, Values
from crisptree.pipeline.timing import KeepTime


@dataclass(frozen=True)
class Refine(Stage):
    """A long refinement of a tree that was just distilled; the best of many snapshots is kept."""

    name: str = "refine-first"
    weight: float = 4.0

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "ppo": asdict(config.ppo_for("refine")),
            "share": config.refine.first_share,
            "logit": config.refine.first_logit,
            "steps": config.steps,
            "selection": asdict(config.selection),
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        tree, config = inputs.tree, context.config
        assert tree is not None
        if _is_needless(tree, context, config.selection.snapshots[0]):
            return replace(inputs, figures={"leaves": tree.n_leaves})
        if context.has_settled(inputs):
            return replace(inputs, figures={"leaves": tree.n_leaves, "settled": True})
        learning, settings = config.ppo_for("refine"), config.refine
        states = _softened(inputs, context, learning, settings.first_share, settings.first_logit)
        states, snapshots = context.checkpoints.resumed(states)
        with context.trainer(learning) as trainer:
            done = anneal(
                states,
                trainer,
                context.task,
                context.selection().careful(),
                # The tree stays as it is if nothing better comes.
                started_from=Snapshot(tree, 0),
                earlier=snapshots,
                on_segment=context.checkpoints.segment,
                rounds=config.selection.snapshots,
                between=KeepTime(context.deadline),
                is_late=context.is_over,
            )
        return _refined(done, inputs, context, learning)


@dataclass(frozen=True)
class Polish(Stage):
    """A short refinement, one of several or as long as several: the tree changes only if it earns
    more."""

    name: str
    weight: float = 0.5
    times: int = 1

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "ppo": asdict(config.ppo_for("polish")),
            "share": self.times * config.refine.share,
            "logit": config.refine.logit,
            "check": config.refine.check,
            "steps": config.steps,
            "selection": asdict(config.selection),
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        tree, settings = inputs.tree, context.config.refine
        assert tree is not None
        if _is_needless(tree, context, settings.check[0]):
            return replace(inputs, figures={"leaves": tree.n_leaves})
        if context.has_settled(inputs):
            return replace(inputs, figures={"leaves": tree.n_leaves, "settled": True})
        learning = context.config.ppo_for("polish")
        share = self.times * settings.share
        states = _softened(inputs, context, learning, share, settings.logit)
        states, _ = context.checkpoints.resumed(states)
        with context.trainer(learning) as trainer:
            done = polish(
                states,
                trainer,
                context.task,
                context.selection().careful(),
                tree,
                on_segment=context.checkpoints.segment,
                between=KeepTime(context.deadline),
                rounds=settings.check,
                is_late=context.is_over,
            )
        made = _refined(done, inputs, context, learning)
        if done.tree is tree:  # nothing to report
            made = replace(made, figures={name: made.figures[name] for name in ("leaves", "steps")})
        return made


def _softened(
    inputs: Artifacts, context: Context, learning: PPOConfig, share: float, logit: float
) -> Any:
    """A learner around the softened tree, with the critic and the moments of earlier learning."""
    tree, values = inputs.tree, inputs.values
    assert tree is not None and values is not None and learning.steepness is not None
    state = ppo.init(
        soften(tree, values.observations, learning.steepness[0], logit),
        context.task.n_features,
        learning,
        context.updates(share * inputs.pace, learning.steps_per_update),
        key=context.key,
        critic=values.critic,
        observations=values.observations,
    )
    return stack([state])


def _refined(done: Refined, inputs: Artifacts, context: Context, learning: PPOConfig) -> Artifacts:
    figures = {
        "leaves": done.tree.n_leaves,
        "training_return": context.checkpoints.training_return(),
        "best_return": context.checkpoints.best_return(),
        "selection_return": done.selection_return,
        "steps": done.updates * learning.steps_per_update,
    }
    values = Values(done.state.critic, done.state.observations)
    return replace(inputs, tree=done.tree, values=values, figures=figures)


def _is_needless(tree: CrispTree, context: Context, episodes: int) -> bool:
    """Whether to skip refining: there is nothing to learn, or no time."""
    if tree.n_leaves == 1 or context.is_late():
        return True
    # There must be time to compare the outcome with the tree before it.
    return not context.selection().affords(2, episodes)
