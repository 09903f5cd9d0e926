"""Smaller trees: cuts on the way to the size asked for, and at the end cuts that cost nothing."""

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

from crisptree.crisp import CrispTree
from crisptree.crispen.climb import best_drawn
from crisptree.crispen.prune import (
    prune_by_return,
    prune_free,
    visited_states,
)
from crisptree.crispen.select import Selection
from crisptree.pipeline.config import PolicyConfig, TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage

DRAWN = 0.25
"""Trees drawn at random, as a share of those that evolve at the end."""


@dataclass(frozen=True)
class Prune(Stage):
    """A tree of at most `size` leaves."""

    name: str
    size: int
    is_last: bool = False
    """Whether this is the size asked for: then trees of that size from elsewhere compete."""
    weight: float = 1.2

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {"prune": asdict(config.prune), "selection": asdict(config.selection)}

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        tree, config = inputs.tree, context.config.prune
        assert tree is not None
        if tree.n_leaves <= self.size:
            return replace(inputs, figures={"leaves": tree.n_leaves})
        context.advance(0.0, f"from {tree.n_leaves} leaves")
        selection = context.selection()
        states = _states(inputs, context)
        smaller = prune_by_return(
            tree,
            self.size,
            states,
            selection,
            context.rng(),
            config,
            is_late=lambda: not selection.affords(config.ways, config.rounds[0]),
            seconds_left=lambda: context.deadline - time.monotonic(),
        )
        ways = {"cut": smaller}
        if self.is_last:
            ways |= self._rivals(inputs, states, selection, context)
        index, score = selection.careful().race([*ways.values()], (config.check,))
        kept, smaller = [*ways.items()][index]
        figures = {"leaves": smaller.n_leaves, "selection_return": score, "kept": kept}
        small = None if self.is_last else inputs.small
        return replace(inputs, tree=smaller, small=small, figures=figures)

    def _rivals(
        self, inputs: Artifacts, states: Any, selection: Selection, context: Context
    ) -> dict[str, CrispTree]:
        """Rival trees of the size asked for that were not cut from the wide one."""
        tree, found = inputs.tree, {}
        assert tree is not None
        if inputs.small is not None:
            found["imitated"] = inputs.small
        evolve = context.config.evolve
        if evolve.generations and _is_constant(context.config.policy):
            count = round(DRAWN * evolve.generations * evolve.population)
            found["drawn"] = best_drawn(
                tree, self.size, states, context.task, selection, context.rng(), count
            )
        return {name: each for name, each in found.items() if each is not None}


@dataclass(frozen=True)
class CutAtOnce(Stage):
    """Cuts a settled tree to the size asked for at once, if it stays settled: nothing better is to
    be learned on the way. Other trees are cut in small steps."""

    name: str = "cut-at-once"
    weight: float = 0.2

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        leaves = config.policy.leaves
        return {
            "prune": asdict(config.prune),
            "selection": asdict(config.selection),
            "leaves": leaves,
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        tree, config = inputs.tree, context.config
        assert tree is not None
        is_small = tree.n_leaves <= config.policy.leaves
        figures: dict[str, Any] = {}
        if not is_small and not context.is_late() and context.has_settled(inputs):
            context.advance(0.0, f"from {tree.n_leaves} leaves")
            selection, states = context.selection(), _states(inputs, context)
            smaller = prune_by_return(
                tree, config.policy.leaves, states, selection, context.rng(), config.prune
            )
            if context.is_settled(smaller, inputs.best_return):
                tree = smaller
            figures["settled"] = True  # the tree before the cut, or after it
        return replace(inputs, tree=tree, figures={"leaves": tree.n_leaves, **figures})


@dataclass(frozen=True)
class Simplify(Stage):
    """Cuts that cost nothing."""

    name: str = "simplify"
    weight: float = 0.3

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {"prune": asdict(config.prune), "selection": asdict(config.selection)}

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        tree, selection, config = inputs.tree, context.selection(), context.config.prune
        assert tree is not None
        context.advance(0.0, f"from {tree.n_leaves} leaves")
        is_late = lambda: context.is_late() or not selection.affords(2, config.free_check)
        if is_late():
            return replace(inputs, figures={"leaves": tree.n_leaves})
        tree = prune_free(
            tree,
            _states(inputs, context),
            selection,
            episodes=config.free_check,
            is_late=is_late,
        )
        score = selection.mean(tree, context.config.selection.final)
        figures = {"leaves": tree.n_leaves, "selection_return": score}
        return replace(inputs, tree=tree, figures=figures)


def _is_constant(policy: PolicyConfig) -> bool:
    return policy.shape == "tree" and policy.leaf == "constant"


def _states(inputs: Artifacts, context: Context) -> Any:
    assert inputs.tree is not None
    return visited_states(
        inputs.tree,
        context.task,
        context.seed,
        most=context.config.selection.states,
        episodes=context.selection().scaled(64),
        until=context.selection().until(),
    )
