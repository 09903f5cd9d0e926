"""Records as groups: one model of one size in one environment, over its seeds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from crisptree.lab.experiments.cell import Cell
from crisptree.lab.experiments.record import Record, SeedFigures
from crisptree.lab.experiments.statistics import Mean, mean_and_error

Row = Literal[
    "soft-tree",
    "soft-list",
    "mlp",
    "crisp-tree",
    "crisp-list",
    "argmax-tree",
    "argmax-list",
    "state-action-dt",
    "dagger-dt",
    "scripted",
    "random",
]
TITLES: dict[str, str] = {
    "soft-tree": "soft tree",
    "soft-list": "soft rule list",
    "mlp": "MLP",
    "crisp-tree": "crisp tree",
    "crisp-list": "crisp rule list",
    "argmax-tree": "soft tree, argmax",
    "argmax-list": "soft rule list, argmax",
    "state-action-dt": "State-Action DT",
    "dagger-dt": "DAgger DT",
    "scripted": "scripted",
    "random": "random",
}
"""Rows of our table, in order. Argmax: the paper's discretisation of the soft model."""
CRISP_ROWS = (
    "crisp-tree",
    "crisp-list",
    "argmax-tree",
    "argmax-list",
    "state-action-dt",
    "dagger-dt",
)
ARGMAX = {"soft-tree": "argmax-tree", "soft-list": "argmax-list"}


@dataclass(frozen=True)
class Group:
    row: str
    cell: Cell
    """The variant: no seeds."""
    seeds: tuple[SeedFigures, ...]
    commands: tuple[str, ...]

    @property
    def is_crisp(self) -> bool:
        return self.row in CRISP_ROWS

    def returns(self, figures: SeedFigures) -> tuple[float, ...]:
        found = figures.crisp_returns if self.is_crisp else figures.soft_returns
        assert found is not None
        return found

    @property
    def scores(self) -> np.ndarray:
        """Mean return of each seed."""
        return np.array([np.mean(self.returns(each)) for each in self.seeds])

    @property
    def score(self) -> Mean:
        return mean_and_error(self.scores.tolist())

    @property
    def selection(self) -> float:
        """Mean return on selection episodes, by which sizes are chosen; never reported."""
        name = "crisp_selection" if self.is_crisp else "soft_selection"
        known = [getattr(each, name) for each in self.seeds if getattr(each, name) is not None]
        return float(np.mean(known)) if known else 0.0

    @property
    def episodes(self) -> int:
        """Reporting episodes a seed."""
        return self.cell.episodes

    @property
    def leaves(self) -> np.ndarray:
        """Leaves of each seed's crisp policy."""
        return np.array([each.tree().n_leaves for each in self.seeds])

    def best_seed(self) -> SeedFigures:
        """The crisp policy that selection episodes like best."""
        return max(self.seeds, key=lambda each: (each.crisp_selection or -np.inf, -each.seed))


def groups_of(records: Iterable[Record]) -> list[Group]:
    """Groups in the order of the table's rows, sizes ascending; a seed counts once."""
    found: dict[tuple[str, Cell], dict[int, tuple[SeedFigures, str | None]]] = {}
    for record in records:
        for figures in record.seeds:
            rows = [record.cell.model]
            if figures.crisp_returns is not None and record.cell.model in ARGMAX:
                rows.append(ARGMAX[record.cell.model])
            for row in rows:
                group = found.setdefault((row, record.cell.variant), {})
                group.setdefault(figures.seed, (figures, record.command))
    groups = [
        Group(
            row,
            cell,
            tuple(figures for _, (figures, _) in sorted(seeds.items())),
            tuple(dict.fromkeys(c for _, (_, c) in sorted(seeds.items()) if c is not None)),
        )
        for (row, cell), seeds in found.items()
    ]
    order = list(TITLES)
    return sorted(
        groups,
        key=lambda g: (g.cell.env, order.index(g.row), g.cell.size or 0, g.cell.learning_rate or 0),
    )


def best_of(groups: Sequence[Group], env: str, row: str) -> Group | None:
    """The size (and learning rate) that earns most on selection episodes; the smaller on a tie."""
    candidates = [group for group in groups if group.cell.env == env and group.row == row]
    if not candidates:
        return None
    complete = max(len(group.seeds) for group in candidates)
    candidates = [group for group in candidates if len(group.seeds) == complete]
    return max(candidates, key=lambda g: (g.selection, -(g.cell.size or 0)))
