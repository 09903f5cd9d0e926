"""`crisptree sweep`: which size of tree is worth it, in an environment of one's own."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from crisptree.base.errors import CrisptreeError
from crisptree.commands.experiment_options import RunOptions, run_and_report
from crisptree.commands.options import option, positional
from crisptree.lab.experiments.cell import Model
from crisptree.pipeline.config import Beginning

SWEPT: tuple[Model, ...] = ("soft-tree", "soft-list", "mlp", "crisp-tree", "crisp-list", "random")
QUICK_LEAVES, QUICK_RULES, QUICK_LAYERS = (4, 16), (4, 16), (0, 2)


@dataclass(frozen=True)
class Command:
    """Train trees, rule lists and MLPs of many sizes, and see what each size is worth.

    Every run is a record of its own. What the store has is not run again: stop it whenever you
    like, start it again, ask for more seeds or sizes later.
    """

    env: Annotated[str, positional("ENV")]
    """Any Gymnasium id; `module:Id` imports first."""
    models: Annotated[tuple[Model, ...], option("MODEL ...")] = ()
    """What to train (soft-tree soft-list mlp crisp-tree crisp-list random, and linear-rule for
    real actions, unless given); state-action-dt and dagger-dt imitate the best of the soft ones."""
    leaves: tuple[int, ...] = ()
    """Sizes of trees (2 4 8 16 32 unless given)."""
    rules: tuple[int, ...] = ()
    """Sizes of rule lists (1 2 4 8 16 32 unless given)."""
    layers: tuple[int, ...] = ()
    """Hidden layers of MLPs (0 1 2 4 8 16 32 unless given)."""
    learning_rates: Annotated[tuple[float, ...], option("FLOAT ...")] = ()
    """Step sizes to try for every soft model and MLP (the configuration's own unless given)."""
    seeds: int = 3
    """Training seeds, 0, 1, …"""
    episodes: int = 100
    """Unseen episodes that each seed is scored on; runs with another number are other runs."""
    steps: int | None = None
    """Environment steps of every training (3,000,000 unless given)."""
    beginning: Annotated[Beginning | None, option("{direct,mlp,soft,dqn,exact}")] = None
    """How crisp policies begin: from scratch (direct) or by a teacher (both, and the better one is
    kept, unless given)."""
    features: str | None = None
    """`module:function` from an observation to the named numbers that the policies see."""
    teacher: str | None = None
    """What crisp policies learn from, as of `crisptree train`."""
    config: Path | None = None
    """A configuration file that all trainings start from."""
    quick: bool = False
    """A look first: two sizes of each model, short training."""
    options: RunOptions = field(default_factory=RunOptions)

    def run(self) -> None:
        from crisptree.envs.task import task_of
        from crisptree.lab.experiments.domain import domain_of_env
        from crisptree.lab.experiments.grid import HIDDEN_LAYERS, LEAVES, RULES, Grid
        from crisptree.pipeline.config import TrainConfig
        from crisptree.pipeline.config_io import asked_config, check_named, load

        base = TrainConfig()
        if self.config is not None:
            base = load(self.config)
            check_named(base, (self.features, self.teacher), self.config)
        base = asked_config(base, features=self.features, teacher=self.teacher)
        domain = domain_of_env(self.env, base)
        env = domain.config.env
        is_box = task_of(env.id, env.kwargs or None, env.features).actions.kind == "box"
        models = self.models or ((*SWEPT, "linear-rule") if is_box else SWEPT)
        if "linear-rule" in models and not is_box:
            raise CrisptreeError(f"linear-rule is for real actions; '{self.env}' has others")
        grid = Grid(
            domains=(domain,),
            models=tuple(dict.fromkeys(models)),
            leaves=self.leaves or (QUICK_LEAVES if self.quick else LEAVES),
            rules=self.rules or (QUICK_RULES if self.quick else RULES),
            hidden_layers=self.layers or (QUICK_LAYERS if self.quick else HIDDEN_LAYERS),
            learning_rates=self.learning_rates,
            n_seeds=self.seeds,
            episodes=self.episodes,
            steps=self.steps,
            quick=self.quick,
            beginning=self.beginning,
        )
        default = f"runs/sweep-{domain.name}" + ("-quick" if self.quick else "")
        title = f"Which size is worth it: {domain.title}"
        run_and_report(title, grid, self.options, default)
