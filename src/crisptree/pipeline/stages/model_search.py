"""Searches for the tree on the environment's own model."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from crisptree.crisp import CrispTree
from crisptree.crispen.draft import Leaf, draft_of, tree_of
from crisptree.crispen.model_fit import fitted_trees
from crisptree.crispen.model_search import Best, ModelSearch
from crisptree.learn.exact_model import ExactModel
from crisptree.learn.value_iteration import ExactPolicy
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage

LONGEST, FIT_SHARE = 60.0, 0.5
"""Most seconds of the search, and the share of them for the first trees."""


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
        until = min(context.deadline, time.monotonic() + LONGEST)
        tree, mean, optimum, is_optimal = best_tree(model, teacher, context, until)
        figures = {
            "leaves": tree.n_leaves,
            "selection_return": mean,
            "optimum": optimum,
            "settled": is_optimal,
        }
        return replace(inputs, tree=tree, figures=figures)


class Found(NamedTuple):
    tree: CrispTree
    mean: float
    """The exact return by the model."""
    optimum: float
    """The exact return of the best policy."""
    is_optimal: bool


def best_tree(model: ExactModel, teacher: ExactPolicy, context: Context, until: float) -> Found:
    """The best tree that is found on a model until then, on `time.monotonic`'s clock; `teacher` is
    the best policy."""
    leaves, began = context.config.policy.leaves, time.monotonic()

    def is_late(share: float) -> Callable[[], bool]:
        return lambda: time.monotonic() > began + share * (until - began)

    context.advance(0.0, f"{model.n_states} states")
    trees = fitted_trees(
        model, teacher, leaves, context.task, context.seed, is_late=is_late(FIT_SHARE)
    )
    optimal = teacher.act(model.observations)
    search = ModelSearch(model, optimal, leaves, context.rng(), is_late=is_late(1.0))
    report = lambda done, best: context.advance(done, _said(best, search))
    best = search.run([*map(draft_of, trees), Leaf(int(model.paid.mean(0).argmax()))], report)
    tree = tree_of(best.draft, context.task)
    return Found(tree, best.mean, search.optimum, search.is_optimal(best))


def _said(best: Best, search: ModelSearch) -> str:
    return f"mean return {best.mean:.6g}, at best {search.optimum:.6g}"
