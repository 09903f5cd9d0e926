"""The stage that mends a tree which loses one episode in many, by the episodes that it lost."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from crisptree.crispen.mend import mend
from crisptree.crispen.prune import visited_states
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage


@dataclass(frozen=True)
class Mend(Stage):
    name: str = "mend"
    weight: float = 1.0

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "search": asdict(config.search),
            "leaves": config.policy.leaves,
            "shape": config.policy.shape,
            "selection": asdict(config.selection),
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        config, selection = context.config, context.selection()
        assert inputs.tree is not None
        before = inputs.tree.simplify()
        # A model gives means: it has no episodes that could be lost.
        if inputs.best_return == -math.inf or context.model is not None or context.is_late():
            return replace(inputs, figures={"leaves": inputs.tree.n_leaves})
        mended = mend(
            before,
            inputs.best_return,
            config.search,
            config.selection,
            selection,
            lambda tree: visited_states(
                tree,
                context.task,
                context.seed,
                most=config.selection.states,
                episodes=selection.scaled(32),
                until=selection.until(),
            ),
            context.rng(),
            most_leaves=config.policy.leaves,
            is_list=config.policy.shape == "list",
            report=lambda done, tree, n_lost: context.advance(
                done, f"{tree.n_leaves} leaves, {n_lost} lost episodes"
            ),
            is_late=context.is_late,
        )
        figures = {"settled": mended.is_flawless, "lost": mended.n_lost}
        tree = mended.tree
        if tree != before:
            # Changes were chosen one by one, partly by luck, so the tree before is compared again.
            trees, episodes = [tree, before], config.selection.settled[-1]
            index, score = selection.careful().race(trees, (episodes,))
            tree, is_best = trees[index], index == 0
            figures |= {"selection_return": score, "settled": mended.is_flawless and is_best}
        return replace(inputs, tree=tree, figures={"leaves": tree.n_leaves, **figures})
