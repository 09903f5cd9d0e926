"""The best crisp policies: a tree and a rule list of each domain, to be drawn and shipped."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.lab.experiments.aggregate import Mean, mean_and_error
from crisptree.lab.experiments.domain import Domain
from crisptree.lab.experiments.groups import TITLES, Group, latest
from crisptree.lab.experiments.record import SeedResult
from crisptree.show import as_svg

SHAPES = {"tree": ("crisp-tree", "argmax-tree"), "list": ("crisp-list", "argmax-list")}


@dataclass(frozen=True)
class BestPolicy:
    """A policy chosen by its return on selection episodes, with its figures on others."""

    name: str
    """What its files are called."""
    shape: str
    group: Group
    result: SeedResult

    @property
    def score(self) -> Mean:
        """Over reporting episodes of the one policy, so that the error is the episodes'."""
        return mean_and_error(self.group.returns(self.result))

    @property
    def tree(self) -> CrispTree:
        """The policy with how it was made and what it scored."""
        commands, seed = self.group.commands, self.result.seed
        made = {
            "command": next((c for c in commands if f"--seed {seed} " in f"{c} "), commands[0]),
            "seed": seed,
            "crisp_return": self.score.mean,
            "crisp_return_se": self.score.error,
            "episodes": self.group.cell.episodes,
        }
        return replace(self.result.tree, training=made)

    @property
    def caption(self) -> str:
        tree, full, score = self.tree, self.result.full_tree, self.score
        error = "" if score.error is None else f" ± {score.error:.1f}"
        return (
            f"{TITLES[self.group.row]}, seed {self.result.seed}: return {score.mean:.1f}{error} "
            f"over {self.group.cell.episodes} unseen episodes; {tree.n_leaves} leaves, "
            f"depth {tree.depth} (before simplifying {full.n_leaves} leaves, depth {full.depth})"
        )

    def drawings(self) -> dict[str, str]:
        """Simplified and full, as SVG."""
        return {"simplified": as_svg(self.tree), "full": as_svg(self.result.full_tree)}


def best_policies(groups: Sequence[Group], domain: Domain) -> list[BestPolicy]:
    """The best tree and the best list, the smaller where two are equally good."""
    found = []
    for shape, rows in SHAPES.items():
        candidates = [
            BestPolicy(f"{domain.name}-{shape}", shape, group, result)
            for group in latest([g for g in groups if g.cell.env == domain.env and g.row in rows])
            for result in group.seeds
        ]
        if candidates:
            found.append(max(candidates, key=_merit))
    return found


def _merit(policy: BestPolicy) -> tuple[float, int]:
    selection = policy.result.crisp_selection
    return (-np.inf if selection is None else selection), -policy.result.tree.n_leaves
