"""DAgger: a tree learns from a teacher what to do in the states that the tree itself meets."""

import math
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from crisptree.crispen.distill import Distilled, distill
from crisptree.crispen.fit import Fit, fit_cart
from crisptree.crispen.fit_linear import fit_linear, with_linear_leaves
from crisptree.crispen.rule_lists import fit_list
from crisptree.envs.policy import Policy
from crisptree.pipeline.config import PolicyConfig, TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage


@dataclass(frozen=True)
class Distill(Stage):
    """A wide tree that imitates the teacher, and one of the size asked for, in case the wide one is
    worse once it is cut. For a list from scratch, the tree is the teacher."""

    name: str = "distill"
    weight: float = 1.5

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "distill": asdict(config.distill),
            "width": config.width,
            "leaves": config.policy.leaves,
            "policy": [config.policy.shape, config.policy.leaf, config.policy.gains],
            "selection": asdict(config.selection),
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        teacher = inputs.teacher or inputs.tree
        assert teacher is not None
        width, leaves = context.config.width, context.config.policy.leaves
        done, small = distilled(teacher, width, context), None
        if leaves < width and not context.is_late():
            small = distilled(teacher, leaves, context).tree
        figures = {
            "leaves": done.tree.n_leaves,
            "agreement": done.agreement,
            # One lucky episode says little if the mean is known.
            "best_return": done.best_return if context.model is None else None,
            "selection_return": done.selection_return,
        }
        if inputs.teacher is not None:
            figures["teacher_return"] = done.teacher_return
        return replace(inputs, tree=done.tree, small=small, figures=figures)


def distilled(teacher: Policy, n_leaves: int, context: Context) -> Distilled:
    """DAgger with the numbers of the configuration."""
    config, selection = context.config.distill, context.selection()
    policy = context.config.policy
    done = distill(
        teacher,
        context.task,
        n_leaves,
        selection,
        seed=context.seed,
        rounds=config.rounds,
        patience=config.patience,
        episodes=episodes_of_a_round(context),
        finalists=config.finalists,
        weighted=config.weighted,
        fit=_fit_of(policy),
        alternate=config.alternate and policy.shape == "tree" and policy.leaf == "constant",
        report=lambda i, score: context.advance(i / config.rounds, f"return {score:8.4g}"),
        is_late=context.is_late,
    )
    if policy.leaf == "constant" or policy.shape == "tree":
        return done
    tree = with_linear_leaves(done.tree, done.states, done.actions, policy.gains)
    return done._replace(tree=tree, selection_return=selection.mean(tree, config.episodes))


def episodes_of_a_round(context: Context) -> int:
    """Episodes of a round. They become fewer more slowly than selection episodes, since they are
    learned from."""
    scale = context.config.selection.scale
    share = 1.0 if scale is None else math.sqrt(scale)
    return max(2, math.ceil(context.config.distill.episodes * share))


def _fit_of(policy: PolicyConfig) -> Fit:
    """How policies of this kind are fitted; lists get their linear leaves at the end."""
    if policy.shape == "list":
        return fit_list
    return fit_cart if policy.leaf == "constant" else partial(fit_linear, gains=policy.gains)
