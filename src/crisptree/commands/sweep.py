"""`crisptree sweep`: which size of tree is worth it, in an environment of one's own."""

from dataclasses import dataclass, field
from typing import Annotated

import tyro

from crisptree.commands.options import OptionalInt, optional
from crisptree.lab.experiments.cell import CRISPENED, LEARNERS, Model
from crisptree.lab.experiments.options import Told, Where
from crisptree.pipeline.routes import Route

SWEPT: tuple[Model, ...] = (*LEARNERS, *CRISPENED, "random")  # pyright: ignore[reportAssignmentType]
QUICK_LEAVES, QUICK_RULES, QUICK_LAYERS = (4, 16), (4, 16), (0, 2)


@dataclass(frozen=True)
class Command:
    """Train trees, rule lists and MLPs of many sizes, and see what each size is worth.

    Every run is a record of its own. What the store has is not run again: stop it whenever you
    like, start it again, ask for more seeds or sizes later.
    """

    env: Annotated[str, tyro.conf.Positional]
    """Any Gymnasium id with Box observations and Discrete actions; `module:Id` imports first."""
    models: tuple[Model, ...] = SWEPT
    """What to train; state-action-dt and dagger-dt imitate the best of the soft ones."""
    leaves: tuple[int, ...] = ()
    """Sizes of trees (2 4 8 16 32 unless given)."""
    rules: tuple[int, ...] = ()
    """Sizes of rule lists (1 2 4 8 16 32 unless given)."""
    layers: tuple[int, ...] = ()
    """Hidden layers of MLPs (0 1 2 4 8 16 32 unless given)."""
    learning_rates: tuple[float, ...] = ()
    """Step sizes to try for every model and size (the recipe's own unless given)."""
    seeds: int = 3
    """Training seeds, 0, 1, …"""
    episodes: int = 100
    """Unseen episodes that each seed is scored on; runs with another number are other runs."""
    steps: OptionalInt = None
    """Environment steps of every training (what suits most environments unless given)."""
    route: Annotated[Route | None, optional("{direct,soft,mlp}")] = None
    """How crisp policies come about: from scratch (direct) or by a teacher (what serves best
    unless given)."""
    quick: bool = False
    """A look first: two sizes of each model, short training."""
    where: Annotated[Where, tyro.conf.arg(name="")] = field(default_factory=Where)
    told: Annotated[Told, tyro.conf.arg(name="")] = field(default_factory=Told)

    def run(self) -> None:
        from crisptree.envs.spaces import describe
        from crisptree.lab.experiments import paper
        from crisptree.lab.experiments.conduct import conduct
        from crisptree.lab.experiments.domains import domain_of
        from crisptree.lab.experiments.plan import Grid

        describe(self.env)
        grid = Grid(
            envs=(self.env,),
            models=tuple(dict.fromkeys(self.models)),
            leaves=self.leaves or (QUICK_LEAVES if self.quick else paper.LEAVES),
            rules=self.rules or (QUICK_RULES if self.quick else paper.RULES),
            hidden_layers=self.layers or (QUICK_LAYERS if self.quick else paper.HIDDEN_LAYERS),
            learning_rates=self.learning_rates or (None,),
            n_seeds=self.seeds,
            episodes=self.episodes,
            steps=self.steps,
            quick=self.quick,
            route=self.route,
        )
        default = f"runs/sweep-{domain_of(self.env).name}" + ("-quick" if self.quick else "")
        title = f"Which size is worth it: {domain_of(self.env).title}"
        conduct(title, grid, self.where, self.told, default)
