"""Where the environment carries its model, or one was learned, the tree is looked for on it."""

import math
import time
from dataclasses import asdict, dataclass, replace
from typing import Any

from crisptree.crisp import CrispTree
from crisptree.crispen.draft import Leaf, draft_of, tree_of
from crisptree.crispen.model_fit import fitted_trees
from crisptree.crispen.model_search import Best, ModelSearch
from crisptree.learn.value_iteration import ExactPolicy
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage

LONGEST, FIT_SHARE = 60.0, 0.5
"""Seconds after which the search has seen enough, and the share of them for first trees."""

NOTHING_KNOWN = {"leaves": 1, "selection_return": None, "settled": False}
"""Where there was too much to learn."""


@dataclass(frozen=True)
class SearchModel(Stage):
    """Imitates the optimal policy and improves the tree by the model's returns. A model that was
    learned must stand the test of episodes."""

    name: str = "model-search"
    weight: float = 2.0

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "leaves": config.policy.leaves,
            "trust": config.table.trust,
            "selection": asdict(config.selection),
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        model, teacher = inputs.model, inputs.teacher
        if model is None:
            return replace(inputs, tree=tree_of(Leaf(0), context.task), figures=NOTHING_KNOWN)
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
        figures: dict[str, Any] = {"leaves": tree.n_leaves}
        if context.model is not None:
            figures |= {"selection_return": best.mean, "optimum": search.optimum}
            figures["settled"] = search.is_optimal(best)
        else:
            spread = search.optimum - (model.baselines().random_return or 0.0)
            figures |= {"by_model": best.mean, **_tested(tree, best.mean, spread, context)}
        return replace(inputs, tree=tree, figures=figures)


def _tested(tree: CrispTree, expected: float, spread: float, context: Context) -> dict[str, Any]:
    """What the tree earns in episodes, and whether that is what the model `expected`: as far as
    can be told, or as near as hardly matters beside the `spread` of returns."""
    config = context.config
    returns = context.selection().careful().returns([tree], config.selection.final)[0]
    doubt = 3 * float(returns.std()) / math.sqrt(len(returns)) + config.table.trust * spread
    mean = float(returns.mean())
    return {"selection_return": mean, "settled": abs(mean - expected) <= doubt}


def _said(best: Best, search: ModelSearch) -> str:
    return f"mean return {best.mean:.6g}, at best {search.optimum:.6g}"
