"""Where the environment carries its model, the tree is looked for on the model itself."""

import time
from dataclasses import dataclass, replace
from typing import Any

from crisptree.crispen.draft import Leaf, draft_of, tree_of
from crisptree.crispen.model_fit import fitted_trees
from crisptree.crispen.model_search import Best, ModelSearch
from crisptree.learn.value_iteration import ExactPolicy
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage

LONGEST, FIT_SHARE = 60.0, 0.5
"""Seconds after which the search has seen enough, and the share of them for first trees."""


@dataclass(frozen=True)
class SearchModel(Stage):
    """Imitates the optimal policy and improves the tree by exact returns; nothing is sampled."""

    name: str = "model-search"
    weight: float = 2.0

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {"leaves": config.policy.leaves}

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        model, teacher = context.model, inputs.teacher
        assert model is not None and isinstance(teacher, ExactPolicy)
        leaves, began = context.config.policy.leaves, time.monotonic()
        is_late = lambda share: context.is_late() or time.monotonic() > began + share * LONGEST
        context.advance(0.0, f"{model.n_states} states")
        trees = fitted_trees(
            model,
            teacher,
            leaves,
            context.task,
            context.seed,
            is_late=lambda: is_late(FIT_SHARE),
        )
        search = ModelSearch(
            model,
            teacher.act(model.observations),
            leaves,
            context.rng(),
            is_late=lambda: is_late(1.0),
        )
        report = lambda done, best: context.advance(done, _said(best, search))
        best = search.run([*map(draft_of, trees), Leaf(int(model.paid.mean(0).argmax()))], report)
        tree = tree_of(best.draft, context.task)
        figures = {
            "leaves": tree.n_leaves,
            "selection_return": best.mean,
            "optimum": search.optimum,
            "settled": search.is_optimal(best),
        }
        return replace(inputs, tree=tree, figures=figures)


def _said(best: Best, search: ModelSearch) -> str:
    return f"mean return {best.mean:.6g}, at best {search.optimum:.6g}"
