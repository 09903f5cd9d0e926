"""`crisptree reproduce`: the paper's Table 1, its training curves and its architecture sweep."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import tyro

from crisptree.commands.options import OptionalInt, optional
from crisptree.lab.experiments.cell import MODELS, Model
from crisptree.lab.experiments.options import Told, Where
from crisptree.pipeline.routes import Route

DomainName = Literal["cartpole", "lunarlander", "wildfire", "zerglings"]
QUICK_LEAVES, QUICK_RULES, QUICK_LAYERS = (4, 8), (4, 8), (0, 1)


@dataclass(frozen=True)
class Command:
    """Run the paper's experiments (§6, Appendix E) into a store of results, and report them.

    Every run is a record of its own. What the store has is not run again: stop it whenever you
    like, start it again, ask for more seeds or sizes later.
    """

    domains: tuple[DomainName, ...] = ("cartpole", "lunarlander", "wildfire", "zerglings")
    """Which of the paper's four."""
    models: tuple[Model, ...] = MODELS
    """Which rows of the table."""
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
    steps: OptionalInt = None
    """Environment steps of every training (what suits the domain unless given)."""
    route: Annotated[Route | None, optional("{direct,soft,mlp}")] = None
    """How crisp policies come about: from scratch (direct) or by a teacher (what serves best
    unless given)."""
    quick: bool = False
    """A look in minutes: two sizes of each model, short training."""
    where: Annotated[Where, tyro.conf.arg(name="")] = field(default_factory=Where)
    told: Annotated[Told, tyro.conf.arg(name="")] = field(default_factory=Told)

    def run(self) -> None:
        from crisptree.lab.experiments import paper
        from crisptree.lab.experiments.conduct import conduct
        from crisptree.lab.experiments.domains import DOMAINS
        from crisptree.lab.experiments.plan import Grid

        grid = Grid(
            envs=tuple(DOMAINS[name].env for name in dict.fromkeys(self.domains)),
            models=tuple(dict.fromkeys(self.models)),
            leaves=self.leaves or (QUICK_LEAVES if self.quick else paper.LEAVES),
            rules=self.rules or (QUICK_RULES if self.quick else paper.RULES),
            hidden_layers=self.layers or (QUICK_LAYERS if self.quick else paper.HIDDEN_LAYERS),
            n_seeds=self.seeds,
            episodes=self.episodes,
            steps=self.steps,
            quick=self.quick,
            route=self.route,
        )
        default = "runs/reproduce-quick" if self.quick else "runs/reproduce"
        conduct("The paper's Table 1, reproduced", grid, self.where, self.told, default)
