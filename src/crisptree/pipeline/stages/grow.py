"""Growing beyond the size asked for, to be cut back to it; what earns more stays."""

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from crisptree.crisp import CrispTree
from crisptree.crispen.grow import grow_by_return
from crisptree.crispen.prune import visited_states
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage


@dataclass(frozen=True)
class Grow(Stage):
    """A larger tree: questions are put in where the tree does otherwise than its teacher."""

    name: str
    weight: float = 0.5

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "grow": asdict(config.grow),
            "policy": [config.policy.shape, config.policy.leaves],
            "selection": asdict(config.selection),
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        tree, teacher, config = inputs.tree, inputs.teacher, context.config
        assert tree is not None
        needless = context.is_late() or context.is_settled(tree, inputs.best_return)
        if teacher is None or needless:
            figures = {"leaves": tree.n_leaves, "costs": False}
            return replace(inputs, rival=tree, figures=figures)
        context.advance(0.0, f"from {tree.n_leaves} leaves")
        selection = context.selection()

        def states_met_by(tree: CrispTree) -> Any:
            return visited_states(
                tree,
                context.task,
                context.seed,
                most=config.selection.states,
                episodes=selection.scaled(32),
            )

        larger = grow_by_return(
            tree,
            math.ceil(config.policy.leaves * (1 + config.grow.share)),
            teacher,
            selection,
            states_met_by,
            is_list=config.policy.shape == "list",
            rounds=config.grow.rounds,
            shortlist=config.grow.shortlist,
            is_late=context.is_late,
        )
        score = selection.mean(larger, config.prune.check)
        figures = {"leaves": larger.n_leaves, "selection_return": score}
        return replace(inputs, tree=larger, rival=tree, figures=figures)

    def load(self, folder: Path, inputs: Artifacts, context: Context) -> Artifacts:
        return replace(super().load(folder, inputs, context), rival=inputs.tree)


@dataclass(frozen=True)
class Keep(Stage):
    """The better one of a tree that was grown and cut back, and the tree before that."""

    name: str
    weight: float = 0.2

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {"selection": asdict(config.selection)}

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        tree, rival = inputs.tree, inputs.rival
        assert tree is not None and rival is not None
        if tree == rival:
            return replace(inputs, rival=None, figures={"leaves": tree.n_leaves, "kept": "before"})
        trees = [rival, tree]
        index, score = context.selection().race(trees, (context.config.selection.final,))
        figures = {
            "leaves": trees[index].n_leaves,
            "selection_return": score,
            "kept": ["before", "grown"][index],
        }
        return replace(inputs, tree=trees[index], rival=None, figures=figures)
