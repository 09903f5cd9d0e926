"""`crisptree reproduce`: the paper's Table 1, its training curves and its architecture sweep."""

from dataclasses import dataclass, field
from typing import Annotated

from crisptree.base.errors import CrisptreeError
from crisptree.commands.experiment_options import RunOptions, run_and_report
from crisptree.commands.options import option
from crisptree.lab.experiments.cell import MODELS, Model
from crisptree.lab.experiments.domain import BOX_DOMAINS, DOMAINS, DomainName, load_domain
from crisptree.pipeline.config import Beginning

QUICK_LEAVES, QUICK_RULES, QUICK_LAYERS = (4, 8), (4, 8), (0, 1)
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
    leaves: tuple[int, ...] = ()
    """Sizes of trees (the paper's 2 4 8 16 32 unless given)."""
    rules: tuple[int, ...] = ()
    """Sizes of rule lists (the paper's 1 2 4 8 16 32 unless given)."""
    layers: tuple[int, ...] = ()
    """Hidden layers of MLPs (the paper's 0 1 2 4 8 16 32 unless given)."""
    episodes: int = 100
    """Unseen episodes that each seed is scored on; runs with another number are other runs."""
    steps: int | None = None
    """Environment steps of every training (what the domain's file says unless given)."""
    beginning: Annotated[Beginning | None, option("{direct,mlp,soft,dqn,exact}")] = None
    """How crisp policies begin: from scratch (direct) or by a teacher (what the domain's file says
    unless given)."""
    quick: bool = False
    """A look in minutes: two sizes of each model, short training."""
    options: RunOptions = field(default_factory=RunOptions)

    def run(self) -> None:
        from crisptree.lab.experiments.grid import HIDDEN_LAYERS, LEAVES, RULES, Grid

        grid = Grid(
            domains=tuple(load_domain(name) for name in dict.fromkeys(self.domains)),
            models=self._models(),
            leaves=self.leaves or (QUICK_LEAVES if self.quick else LEAVES),
            rules=self.rules or (QUICK_RULES if self.quick else RULES),
            hidden_layers=self.layers or (QUICK_LAYERS if self.quick else HIDDEN_LAYERS),
            n_seeds=self.seeds,
            episodes=self.episodes,
            steps=self.steps,
            quick=self.quick,
            beginning=self.beginning,
        )
        default = "runs/reproduce-quick" if self.quick else "runs/reproduce"
        run_and_report("The paper's Table 1, reproduced", grid, self.options, default)

    def _models(self) -> tuple[Model, ...]:
        """One linear rule is a row where every domain has real actions."""
        are_real = set(self.domains) <= set(BOX_DOMAINS)
        if "linear-rule" in self.models and not are_real:
            raise CrisptreeError(
                f"linear-rule is for real actions: give --domains {' '.join(BOX_DOMAINS)}"
            )
        return tuple(dict.fromkeys(self.models)) or (MODELS if are_real else PAPER_MODELS)
