"""A teacher without gradients: one linear rule of all features, by random search."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from crisptree.crisp import CrispTree
from crisptree.crispen.config import RuleConfig
from crisptree.crispen.evolve import HEAD_START, SCOUTING, drawn_rules, evolve, one_rule
from crisptree.envs.policy import random_policy
from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.stage import Artifacts, Context, Stage
from crisptree.pipeline.stages.evolve import states_met_by
from crisptree.pipeline.teachers import values_seen_by

HEADS, HEAD_SHARE = 3, 0.1
"""How many rules begin, since some never get far, and most of the time that the first generations
of each may take."""


@dataclass(frozen=True)
class Rule(Stage):
    """It is judged by returns of whole episodes, so it sees what a discount hides."""

    name: str = "teacher-rule"
    weight: float = 14.0
    is_leaf: bool = False
    """Whether the rule is the first tree itself: then it ends with no more gains than asked for."""

    def settings(self, config: TrainConfig) -> dict[str, Any]:
        return {
            "rule": asdict(config.rule),
            "gains": config.policy.gains if self.is_leaf else None,
            "selection": asdict(config.selection),
        }

    def run(self, inputs: Artifacts, context: Context) -> Artifacts:
        config, selection, rng = context.config, context.selection(), context.rng()
        used = context.time_used()
        states = states_met_by(random_policy(context.task, context.seed), context)

        def evolved(
            start: CrispTree, settings: RuleConfig, share: float, most: int | None = None
        ) -> CrispTree:
            return evolve(
                start,
                settings,
                selection,
                states,
                lambda tree: states_met_by(tree, context),
                rng,
                report=lambda done, score: context.advance(share * done, f"return {score:8.4g}"),
                time_used=lambda: used() / share,
                most_gains=most,
                is_rule=True,
            ).tree

        nothing, early = one_rule(context.task), replace(config.rule, generations=HEAD_START)
        heads = [evolved(nothing, early, HEAD_SHARE * i) for i in range(1, HEADS + 1)]
        if all(head is nothing for head in heads):  # small steps do not help
            heads = [nothing, *drawn_rules(context.task, states, rng)]
        start = heads[selection.race(heads, SCOUTING)[0]]
        rule = evolved(start, config.rule, 1.0, config.policy.gains if self.is_leaf else None)
        returns = selection.returns([rule], config.selection.snapshots[-1])
        figures = {"selection_return": float(returns.mean()), "best_return": float(returns.max())}
        values = values_seen_by(rule, context)
        tree = rule if self.is_leaf else inputs.tree
        return replace(inputs, tree=tree, teacher=rule, values=values, figures=figures)

    def save(self, made: Artifacts, folder: Path) -> None:
        super().save(made, folder)
        assert isinstance(made.teacher, CrispTree)
        made.teacher.save(folder / "rule.json")

    def load(self, folder: Path, inputs: Artifacts, context: Context) -> Artifacts:
        rule = CrispTree.load(folder / "rule.json")
        return replace(super().load(folder, inputs, context), teacher=rule)
