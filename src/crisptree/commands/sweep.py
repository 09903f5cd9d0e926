"""`crisptree sweep`: which size of tree is worth it, in an environment of one's own."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from crisptree.base.errors import CrisptreeError
from crisptree.commands.experiment_options import GridOptions, run_and_report
from crisptree.commands.options import option, positional
from crisptree.lab.experiments.cell import Model

SWEPT: tuple[Model, ...] = ("soft-tree", "soft-list", "mlp", "crisp-tree", "crisp-list", "random")
QUICK_SIZES = (4, 16), (4, 16), (0, 2)


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
    learning_rates: Annotated[tuple[float, ...], option("FLOAT ...")] = ()
    """Step sizes to try for every soft model and MLP (the configuration's own unless given)."""
    seeds: int = 3
    """Training seeds, 0, 1, …"""
    features: str | None = None
    """`module:function` from an observation to the named numbers that the policies see."""
    teacher: str | None = None
    """What crisp policies learn from, as of `crisptree train`."""
    config: Path | None = None
    """A configuration file that all trainings start from."""
    options: GridOptions = field(default_factory=GridOptions)

    def run(self) -> None:
        from crisptree.envs.task import task_of
        from crisptree.lab.experiments.domain import domain_of_env
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
        options, rates = self.options, self.learning_rates
        grid = options.grid((domain,), models, self.seeds, QUICK_SIZES, rates)
        default = f"runs/sweep-{domain.name}" + ("-quick" if options.quick else "")
        run_and_report(f"Which size is worth it: {domain.title}", grid, options, default)
