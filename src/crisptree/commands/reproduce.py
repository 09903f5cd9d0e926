"""`crisptree reproduce`: the paper's Table 1, its training curves and its architecture sweep."""

from dataclasses import dataclass, field
from typing import Annotated

from crisptree.base.errors import CrisptreeError
from crisptree.commands.experiment_options import GridOptions, run_and_report
from crisptree.commands.options import option
from crisptree.lab.experiments.cell import MODELS, Model
from crisptree.lab.experiments.domain import BOX_DOMAINS, DOMAINS, DomainName, load_domain

QUICK_SIZES = (4, 8), (4, 8), (0, 1)
PAPER_MODELS: tuple[Model, ...] = tuple(model for model in MODELS if model != "linear-rule")


@dataclass(frozen=True)
class Command:
    """Run the paper's experiments (§6, Appendix E) into a store of results, and report them.

    Every run is a record of its own. What the store has is not run again: stop it whenever you
    like, start it again, ask for more seeds or sizes later.
    """

    domains: tuple[DomainName, ...] = DOMAINS
    """Which of the paper's four, or of three with real actions."""
    models: Annotated[tuple[Model, ...], option("MODEL ...")] = ()
    """Which rows of the table: soft-tree soft-list mlp crisp-tree crisp-list state-action-dt
    dagger-dt random scripted (all of them unless given); linear-rule is for real actions."""
    seeds: int = 5
    """Training seeds, 0, 1, …"""
    options: GridOptions = field(default_factory=GridOptions)

    def run(self) -> None:
        domains = tuple(load_domain(name) for name in dict.fromkeys(self.domains))
        grid = self.options.grid(domains, self._models(), self.seeds, QUICK_SIZES)
        default = "runs/reproduce-quick" if self.options.quick else "runs/reproduce"
        run_and_report("The paper's Table 1, reproduced", grid, self.options, default)

    def _models(self) -> tuple[Model, ...]:
        """One linear rule is a row where every domain has real actions."""
        are_real = set(self.domains) <= set(BOX_DOMAINS)
        if "linear-rule" in self.models and not are_real:
            raise CrisptreeError(
                f"linear-rule is for real actions: give --domains {' '.join(BOX_DOMAINS)}"
            )
        return self.models or (MODELS if are_real else PAPER_MODELS)
