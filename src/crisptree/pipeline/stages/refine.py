"""A crisp tree is softened, learns on where it stands, and turns crisp again."""

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from crisptree.crisp import CrispTree
from crisptree.crispen.refine import Snapshot, anneal
from crisptree.crispen.soften import soften
from crisptree.learn import ppo
from crisptree.learn.stacks import stack
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage, Values
from crisptree.pipeline.timing import KeepTime


@dataclass(frozen=True)
class Refine(Stage):
    """Refinement after distilling ("first"), after a cut, or after the last cut ("last")."""

    name: str
    moment: Literal["first", "cut", "last"]
    weight: float = 1.2

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "ppo": asdict(config.ppo_for(self._kind)),
            "share": self._share(config),
            "steps": config.steps,
            "selection": asdict(config.selection),
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        tree, values = inputs.tree, inputs.values
        assert tree is not None and values is not None
        if self._is_needless(tree, inputs, context):
            return replace(inputs, figures={"leaves": tree.n_leaves})
        learning = context.config.ppo_for(self._kind)
        assert learning.steepness is not None
        share = self._share(context.config) * inputs.pace
        n_updates = context.updates(share, learning.steps_per_update)
        state = ppo.init(
            soften(tree, values.observations, learning.steepness[0]),
            context.task.n_features,
            learning,
            n_updates,
            key=context.key,
            critic=values.critic,
            observations=values.observations,
        )
        states, snapshots = context.checkpoints.resumed(stack([state]))
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
                rounds=context.config.selection.snapshots,
                between=KeepTime(context.deadline),
                is_late=context.is_over,
            )
        figures = {
            "leaves": done.tree.n_leaves,
            "training_return": context.checkpoints.training_return(),
            "best_return": context.checkpoints.best_return(),
            "selection_return": done.selection_return,
            "steps": done.updates * learning.steps_per_update,
        }
        values = Values(done.state.critic, done.state.observations)
        return replace(inputs, tree=done.tree, values=values, figures=figures)

    def _is_needless(self, tree: CrispTree, inputs: Artifacts, context: Context) -> bool:
        """Whether nothing was lost by a cut, nothing can be learned, or nothing is in sight."""
        cost_nothing = inputs.figures.get("costs") is False
        if cost_nothing or tree.n_leaves == 1 or context.is_late():
            return True
        # What cannot be compared with the tree as it is, is not worth learning.
        if not context.selection().affords(2, context.config.selection.snapshots[0]):
            return True
        return context.is_settled(tree, inputs.best_return)

    @property
    def _kind(self) -> str:
        return "refine" if self.moment == "cut" else f"refine-{self.moment}"

    def _share(self, config: TrainConfig) -> float:
        refine = config.refine
        shares = {"first": refine.first_share, "cut": refine.share, "last": refine.last_share}
        return shares[self.moment]
