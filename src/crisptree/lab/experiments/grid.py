"""What is asked for, and what of it is still to be run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments.cell import (
    CRISPENED,
    IMITATORS,
    LEARNERS,
    SIZE_WORDS,
    Cell,
    Model,
    cell_of,
)
from crisptree.lab.experiments.domain import Domain
from crisptree.lab.experiments.record import Record
from crisptree.pipeline.config import Beginning
from crisptree.pipeline.config_io import PROCEDURE

LEAVES = (2, 4, 8, 16, 32)
RULES = (1, 2, 4, 8, 16, 32)
HIDDEN_LAYERS = (0, 1, 2, 4, 8, 16, 32)
"""The architecture sweep of §6."""


@dataclass(frozen=True)
class Grid:
    """Domains × models × sizes × learning rates × seeds."""

    domains: tuple[Domain, ...]
    models: tuple[Model, ...]
    leaves: tuple[int, ...] = LEAVES
    rules: tuple[int, ...] = RULES
    hidden_layers: tuple[int, ...] = HIDDEN_LAYERS
    learning_rates: tuple[float, ...] = ()
    """Of soft models and MLPs; none: what the domain says."""
    n_seeds: int = 5
    episodes: int = 100
    steps: int | None = None
    quick: bool = False
    beginning: Beginning | None = None
    """How crisp policies begin; None: what the domain says."""

    def __post_init__(self) -> None:
        for name, low in (("leaves", 2), ("rules", 1), ("hidden_layers", 0)):
            if any(size < low for size in getattr(self, name)):
                words = name.replace("_", " ")
                raise CrisptreeError(f"{words} must be at least {low}, not {getattr(self, name)}")
        for name in ("n_seeds", "episodes", "steps"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise CrisptreeError(f"--{name.replace('n_', '')} must be at least 1, not {value}")
        if not self.domains or not self.models:
            raise CrisptreeError("nothing to run: name at least one environment and one model")

    def variants(self, domain: Domain) -> list[Cell]:
        """Every model and size with seed 0; imitators without their teacher."""
        return [
            cell_of(domain, model, size, self.episodes, overrides)
            for model in self.models
            for size in self._sizes(model)
            for overrides in self._overrides(domain, model)
        ]

    def _sizes(self, model: Model) -> Sequence[int | None]:
        if model not in SIZE_WORDS:
            return (None,)
        if model == "mlp":
            return self.hidden_layers
        return self.rules if model.endswith("list") else self.leaves

    def _overrides(self, domain: Domain, model: Model) -> list[dict[str, Any]]:
        """What is asked for besides the domain's own configuration."""
        asked: dict[str, Any] = dict(domain.quick) if self.quick else {}
        if self.steps is not None:
            asked["steps"] = self.steps
        if self.beginning is not None and model in CRISPENED:
            asked |= {"candidates.beginnings": [self.beginning], "candidates.count": None}
        if self.learning_rates and model in LEARNERS:
            return [{**asked, "paper.learning_rate": rate} for rate in self.learning_rates]
        return [asked]

    @property
    def is_plain(self) -> bool:
        """Whether every domain's own configuration is asked for."""
        return not self.quick and self.steps is None and not self.learning_rates


def missing_cells(grid: Grid, records: Iterable[Record]) -> list[Cell]:
    """The runs of all models but the imitators that have no record."""
    records = list(records)
    variants = [cell for domain in grid.domains for cell in grid.variants(domain)]
    learning = [cell for cell in variants if cell.model not in IMITATORS]
    return [cell for variant in learning for cell in _missing(variant, grid.n_seeds, records)]


def missing_imitators(grid: Grid, records: Iterable[Record]) -> list[Cell]:
    """The same of the imitators: they learn from the best agent that the records have."""
    records, cells = list(records), list[Cell]()
    for domain in grid.domains:
        teacher = best_agent(domain.env, records)
        for variant in grid.variants(domain):
            if variant.model in IMITATORS and teacher is not None:
                cells += _missing(replace(variant, teacher=teacher), grid.n_seeds, records)
    return cells


def _missing(variant: Cell, n_seeds: int, records: Iterable[Record]) -> list[Cell]:
    """Runs for the seeds that no record has: neighbours together, but for crisp policies."""
    have = {
        seed
        for record in records
        if record.cell.variant == variant.variant
        for seed in record.cell.seeds
    }
    groups: list[list[int]] = []
    for seed in range(n_seeds):
        if seed in have:
            continue
        if groups and groups[-1][-1] == seed - 1 and variant.model not in CRISPENED:
            groups[-1].append(seed)
        else:
            groups.append([seed])
    return [variant.with_seeds(group[0], len(group)) for group in groups]


def best_agent(env: str, records: Iterable[Record], edition: int = PROCEDURE) -> str | None:
    """`KEY#SEED` of the learner that earns most on selection episodes."""
    best: tuple[float, str] | None = None
    for record in records:
        cell = record.cell
        if cell.env != env or cell.model not in LEARNERS or cell.edition != edition:
            continue
        for result in record.seeds:
            score = result.soft_selection
            if score is not None and (best is None or score > best[0]):
                best = (score, f"{record.key}#{result.seed}")
    return None if best is None else best[1]


def relevant(grid: Grid, records: Iterable[Record]) -> list[Record]:
    """The records that the grid asks for; of imitators, those of the best agent.

    Records of earlier procedures have other configurations or none. They count where the domain's
    own configuration is asked for and nothing like them was made by a later procedure.
    """
    records, found = list(records), list[Record]()
    for domain in grid.domains:
        variants = grid.variants(domain)
        mine = [record for record in records if record.cell.env == domain.env]
        teacher = best_agent(domain.env, mine)
        asked = {
            (replace(v, teacher=teacher) if v.model in IMITATORS else v).variant for v in variants
        }
        found += [record for record in mine if record.cell.variant in asked]
        for edition in range(PROCEDURE - 1, 0, -1) if grid.is_plain else ():
            looks = {_look(v) for v in variants} - {_look(record.cell) for record in found}
            earlier = [record for record in mine if record.cell.edition == edition]
            agent = best_agent(domain.env, earlier, edition)
            found += [
                r for r in earlier if _look(r.cell) in looks and r.cell.teacher in (None, agent)
            ]
    return found


def _look(cell: Cell) -> tuple[Any, ...]:
    """What a cell of an earlier procedure has in common with one of this procedure."""
    beginning = cell.beginning if cell.model in CRISPENED else None
    return cell.env, cell.model, cell.size, cell.episodes, beginning
