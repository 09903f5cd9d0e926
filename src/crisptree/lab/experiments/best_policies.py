"""The best policies that people can read: a tree and a rule list of each environment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from crisptree.crisp import CrispTree
from crisptree.lab.experiments.domains import domain_of
from crisptree.lab.experiments.record import SeedFigures
from crisptree.lab.experiments.statistics import Mean, mean_and_error
from crisptree.lab.experiments.summary import TITLES, Group
from crisptree.show import as_svg

SHAPES = {"tree": ("crisp-tree", "argmax-tree"), "list": ("crisp-list", "argmax-list")}


@dataclass(frozen=True)
class Readable:
    """A policy chosen by its return on selection episodes, with its figures on others."""

    shape: str
    group: Group
    figures: SeedFigures

    @property
    def name(self) -> str:
        return f"{domain_of(self.group.cell.env).name}-{self.shape}"

    @property
    def score(self) -> Mean:
        """Over reporting episodes: one policy, so that the error is the episodes'."""
        return mean_and_error(self.group.returns(self.figures))

    @property
    def tree(self) -> CrispTree:
        """The policy with how it was made and what it scored."""
        made = {
            "command": _command(self.group, self.figures.seed),
            "seed": self.figures.seed,
            "crisp_return": self.score.mean,
            "crisp_return_se": self.score.error,
            "episodes": self.group.episodes,
        }
        return replace(self.figures.tree(), training=made)

    @property
    def full_tree(self) -> CrispTree:
        return self.figures.full_tree()

    @property
    def caption(self) -> str:
        tree, full, score = self.tree, self.full_tree, self.score
        about = "" if score.error is None else f" ± {score.error:.1f}"
        return (
            f"{TITLES[self.group.row]}, seed {self.figures.seed}: return {score.mean:.1f}{about} "
            f"over {self.group.episodes} unseen episodes; {tree.n_leaves} leaves, "
            f"depth {tree.depth} (before simplifying {full.n_leaves} leaves, depth {full.depth})"
        )

    def pictures(self) -> dict[str, str]:
        """Simplified and full, as SVG."""
        return {"simplified": as_svg(self.tree), "full": as_svg(self.full_tree)}


def _command(group: Group, seed: int) -> str | None:
    """The command of a run that trained this seed; 0 is the one that is not named."""
    return next((c for c in group.commands if f"--seed {seed} " in f"{c} "), group.commands[0])


def readable_policies(groups: Sequence[Group], env: str) -> list[Readable]:
    """The best tree and the best list, the smaller where two are equally good."""
    found = []
    for shape, rows in SHAPES.items():
        candidates = [
            Readable(shape, group, figures)
            for group in groups
            if group.cell.env == env and group.row in rows
            for figures in group.seeds
        ]
        if candidates:
            found.append(max(candidates, key=_merit))
    return found


def _merit(policy: Readable) -> tuple[float, int]:
    selection = policy.figures.crisp_selection
    return (-np.inf if selection is None else selection), -policy.figures.tree().n_leaves
