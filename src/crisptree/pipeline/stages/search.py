"""The last stage: small changes to the crisp tree itself, raced on return."""

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

from crisptree.crispen.prune import visited_states
from crisptree.crispen.search import search
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage

CHOICE = 0.15
"""Share of the time that is kept for the choice between the tree before and after the search."""


@dataclass(frozen=True)
class Search(Stage):
    name: str = "search"
    weight: float = 2.5

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "search": asdict(config.search),
            "leaves": config.policy.leaves,
            "selection": asdict(config.selection),
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        config, selection = context.config, context.selection()
        assert inputs.tree is not None
        is_late = _Late(context)
        if is_late():
            return replace(inputs, figures={"leaves": inputs.tree.n_leaves})
        if context.has_settled(inputs):
            figures = {"leaves": inputs.tree.n_leaves, "settled": True}
            score = selection.mean(inputs.tree, config.selection.final)
            return replace(inputs, figures={**figures, "selection_return": score})
        sweeps, used = config.search.sweeps or 1, context.time_used()
        searched = search(
            inputs.tree,
            config.search,
            selection,
            lambda tree: visited_states(
                tree,
                context.task,
                context.seed,
                most=config.selection.states,
                episodes=selection.scaled(32),
                until=context.selection().until(),
            ),
            context.rng(),
            most_leaves=config.policy.leaves,
            is_list=config.policy.shape == "list",
            report=lambda sweep, tree: context.advance(
                min(1.0, max(sweep / sweeps, used())), f"{tree.n_leaves} leaves"
            ),
            is_late=is_late,
        )
        # Changes were chosen one by one, partly by luck, so the tree before them is compared again.
        trees = sorted([searched, inputs.tree], key=lambda tree: tree.n_leaves)
        index, score = selection.careful().race(trees, (config.selection.final,))
        tree = trees[index]
        figures = {"leaves": tree.n_leaves, "selection_return": score}
        return replace(inputs, tree=tree, figures=figures)


class _Late:
    """Whether there is too little time for another sweep, which takes as long as the last one, and
    for the choice after it."""

    def __init__(self, context: Context) -> None:
        self._last = time.monotonic()
        self._end = self._last + (1 - CHOICE) * (context.deadline - self._last)
        self._context = context

    def __call__(self) -> bool:
        now, few = time.monotonic(), self._context.config.search.confirm
        took, self._last = now - self._last, now
        return now + took > self._end or not self._context.selection().affords(2, few)
