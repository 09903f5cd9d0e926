"""What is asked for, and what of it is still to be run."""

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from crisptree.base.errors import CrisptreeError
from crisptree.lab.experiments import paper
from crisptree.lab.experiments.cell import CRISPENED, FIXED, IMITATORS, LEARNERS, Cell, Model
from crisptree.lab.experiments.record import Record
from crisptree.pipeline.routes import Route, route_for

QUICK_STEPS: dict[str, tuple[int, int]] = {"CartPole-v1": (600_000, 250_000)}
"""Steps of learners and of crispened trees in a quick look."""
QUICK_STEPS_ELSEWHERE = (500_000, 500_000)


@dataclass(frozen=True)
class Grid:
    """Environments × models × sizes × learning rates × seeds."""

    envs: tuple[str, ...]
    models: tuple[Model, ...]
    leaves: tuple[int, ...] = paper.LEAVES
    rules: tuple[int, ...] = paper.RULES
    hidden_layers: tuple[int, ...] = paper.HIDDEN_LAYERS
    learning_rates: tuple[float | None, ...] = (None,)
    n_seeds: int = 5
    episodes: int = 100
    steps: int | None = None
    quick: bool = False
    route: Route | None = None
    """Of crisp policies; None: what serves each environment."""

    def __post_init__(self) -> None:
        for name, low in (("leaves", 2), ("rules", 1), ("hidden_layers", 0)):
            if any(size < low for size in getattr(self, name)):
                words = name.replace("_", " ")
                raise CrisptreeError(f"{words} must be at least {low}, not {getattr(self, name)}")
        for name in ("n_seeds", "episodes"):
            if getattr(self, name) < 1:
                words = name.replace("n_", "")
                raise CrisptreeError(f"--{words} must be at least 1, not {getattr(self, name)}")
        if not self.envs or not self.models:
            raise CrisptreeError("nothing to run: name at least one environment and one model")

    def variants(self, env: str) -> list[Cell]:
        """Every model and size, without seeds; imitators without their teacher."""
        return [
            Cell(
                env,
                model,
                size,
                first_seed=0,
                n_seeds=0,
                episodes=self.episodes,
                steps=self._steps(env, model),
                learning_rate=rate,
                route=(self.route or route_for(env)) if model in CRISPENED else None,
            )
            for model in self.models
            for size in self._sizes(model)
            for rate in (self.learning_rates if model in LEARNERS + CRISPENED else (None,))
        ]

    def _sizes(self, model: Model) -> Sequence[int | None]:
        if model in FIXED:
            return (None,)
        if model == "mlp":
            return self.hidden_layers
        return self.rules if model.endswith("list") else self.leaves

    def _steps(self, env: str, model: Model) -> int | None:
        if model not in LEARNERS + CRISPENED:
            return None
        if self.steps is not None or not self.quick:
            return self.steps
        return QUICK_STEPS.get(env, QUICK_STEPS_ELSEWHERE)[model in CRISPENED]


def wanted(grid: Grid, records: Iterable[Record], failed: Collection[str] = ()) -> list[Cell]:
    """The runs that can be started now, done ones left out; call again when one has ended.

    Imitators come once all learners of their environment are done (or have failed): then it is
    known who the best agent is.
    """
    records = list(records)
    cells: list[Cell] = []
    for env in grid.envs:
        variants = grid.variants(env)
        learning = [
            cell
            for variant in variants
            if variant.model not in IMITATORS
            for cell in _missing(variant, grid.n_seeds, records)
        ]
        cells += learning
        if any(cell.model in LEARNERS and cell.key not in failed for cell in learning):
            continue
        teacher = best_agent(env, records)
        for variant in variants:
            if variant.model in IMITATORS and teacher is not None:
                taught = dataclasses.replace(variant, teacher=teacher)
                cells += _missing(taught, grid.n_seeds, records)
    return [cell for cell in cells if cell.key not in failed]


def _missing(variant: Cell, n_seeds: int, records: Iterable[Record]) -> list[Cell]:
    """Runs for the seeds that no record has: neighbours together where they learn side by side."""
    have = {
        seed for record in records if record.cell.variant == variant for seed in record.cell.seeds
    }
    groups: list[list[int]] = []
    for seed in range(n_seeds):
        if seed in have:
            continue
        if groups and groups[-1][-1] == seed - 1 and variant.model in LEARNERS:
            groups[-1].append(seed)
        else:
            groups.append([seed])
    return [
        dataclasses.replace(variant, first_seed=group[0], n_seeds=len(group)) for group in groups
    ]


def best_agent(env: str, records: Iterable[Record]) -> str | None:
    """`KEY#SEED` of the soft tree, rule list or MLP that earns most on selection episodes."""
    best: tuple[float, str] | None = None
    for record in records:
        if record.cell.env != env or record.cell.model not in LEARNERS:
            continue
        for figures in record.seeds:
            score = figures.soft_selection
            if score is not None and (best is None or score > best[0]):
                best = (score, f"{record.cell.key}#{figures.seed}")
    return None if best is None else best[1]


def relevant(grid: Grid, records: Iterable[Record]) -> list[Record]:
    """The records that the grid asks for; of imitators those of today's best agent."""
    records = list(records)
    asked = {}
    for env in grid.envs:
        teacher = best_agent(env, records)
        for variant in grid.variants(env):
            is_imitator = variant.model in IMITATORS
            asked[dataclasses.replace(variant, teacher=teacher) if is_imitator else variant] = True
    return [record for record in records if record.cell.variant in asked]
