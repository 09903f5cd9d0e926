"""Records as groups: one model of one size in one environment, over its seeds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from crisptree.lab.experiments.aggregate import Mean, mean_and_error
from crisptree.lab.experiments.cell import Cell
from crisptree.lab.experiments.record import Record, SeedResult

TITLES: dict[str, str] = {
    "soft-tree": "soft tree",
    "soft-list": "soft rule list",
    "mlp": "MLP",
    "crisp-tree": "crisp tree",
    "crisp-list": "crisp rule list",
    "argmax-tree": "soft tree, argmax",
    "argmax-list": "soft rule list, argmax",
    "linear-rule": "one linear rule",
    "state-action-dt": "State-Action DT",
    "dagger-dt": "DAgger DT",
    "scripted": "scripted",
    "random": "random",
}
"""Rows of our table, in order. Argmax: the paper's discretisation of the soft model."""
SOFT_ROWS = ("soft-tree", "soft-list", "mlp", "scripted", "random")
ARGMAX = {"soft-tree": "argmax-tree", "soft-list": "argmax-list"}


@dataclass(frozen=True)
class Group:
    row: str
    cell: Cell
    """The cell of the first seed that was found."""
    seeds: tuple[SeedResult, ...]
    commands: tuple[str, ...]

    @property
    def is_crisp(self) -> bool:
        return self.row not in SOFT_ROWS

    def returns(self, result: SeedResult) -> tuple[float, ...]:
        """What one seed earns in each reporting episode."""
        found = result.crisp_returns if self.is_crisp else result.soft_returns
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
    def leaves(self) -> np.ndarray:
        """Leaves of each seed's crisp policy."""
        return np.array([each.tree.n_leaves for each in self.seeds])


def groups_of(records: Iterable[Record]) -> list[Group]:
    """Groups in the order of the table's rows, sizes ascending; a seed counts once."""
    found: dict[tuple[object, ...], list[tuple[SeedResult, Record]]] = {}
    for record in records:
        for result in record.seeds:
            rows = [record.cell.model]
            if result.crisp_returns is not None and record.cell.model in ARGMAX:
                rows.append(ARGMAX[record.cell.model])
            for row in rows:
                members = found.setdefault((row, *record.cell.variant), [])
                if all(other.seed != result.seed for other, _ in members):
                    members.append((result, record))
    groups = []
    for (row, *_), members in found.items():
        members.sort(key=lambda member: member[0].seed)
        commands = dict.fromkeys(r.command for _, r in members if r.command is not None)
        seeds = tuple(result for result, _ in members)
        groups.append(Group(str(row), members[0][1].cell, seeds, tuple(commands)))
    order = list(TITLES)
    return sorted(
        groups,
        key=lambda g: (g.cell.env, order.index(g.row), g.cell.size or 0, g.cell.learning_rate or 0),
    )


def best_of(groups: Sequence[Group], env: str, row: str) -> Group | None:
    """The size (and learning rate) that earns most on selection episodes; the smaller on a tie.

    Groups with fewer seeds than others do not count.
    """
    candidates = latest([group for group in groups if group.cell.env == env and group.row == row])
    most = max((len(group.seeds) for group in candidates), default=0)
    candidates = [group for group in candidates if len(group.seeds) == most]
    return max(candidates, key=lambda g: (g.selection, -(g.cell.size or 0)), default=None)


def latest(groups: Sequence[Group]) -> list[Group]:
    """The groups, without those whose size was run again by a later edition."""
    newest: dict[tuple[str, int | None], int] = {}
    for group in groups:
        known = (group.row, group.cell.size)
        newest[known] = max(newest.get(known, 0), group.cell.edition)
    return [g for g in groups if g.cell.edition == newest[g.row, g.cell.size]]
