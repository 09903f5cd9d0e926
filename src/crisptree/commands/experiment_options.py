"""What `reproduce` and `sweep` have in common: sizes, where to run and where results go, and the
run."""

import importlib.util
import json
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from crisptree.base.errors import CrisptreeError
from crisptree.base.interrupts import interrupts_raise
from crisptree.base.text import aligned
from crisptree.commands.options import option
from crisptree.lab.experiments.cell import Model
from crisptree.pipeline.config import Beginning

if TYPE_CHECKING:
    from crisptree.lab.experiments.domain import Domain
    from crisptree.lab.experiments.grid import Grid
    from crisptree.lab.experiments.record_store import RecordStore
    from crisptree.lab.experiments.run_grid import Outcome


Sizes = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""Of trees, of rule lists and of MLPs."""


@dataclass(frozen=True)
class GridOptions:
    """Which sizes run, where, and where the results go."""

    leaves: tuple[int, ...] = ()
    """Sizes of trees (the paper's 2 4 8 16 32 unless given)."""
    rules: tuple[int, ...] = ()
    """Sizes of rule lists (the paper's 1 2 4 8 16 32 unless given)."""
    layers: tuple[int, ...] = ()
    """Hidden layers of MLPs (the paper's 0 1 2 4 8 16 32 unless given)."""
    episodes: int = 100
    """Unseen episodes that each seed is scored on; runs with another number are other runs."""
    steps: int | None = None
    """Environment steps of every training (what the domain's file says unless given; 3,000,000 in
    an environment of your own)."""
    beginning: Annotated[Beginning | None, option("{direct,mlp,soft,dqn,exact}")] = None
    """How crisp policies begin: from scratch (direct) or by a teacher (what the domain's file says
    unless given; both in an environment of your own, and the better one is kept)."""
    quick: bool = False
    """A look first: two sizes of each model, short training."""
    executor: Literal["local", "ray"] = "local"
    """Processes of this machine, or tasks of the Ray cluster that is running (RAY_ADDRESS names
    another; a cluster of this machine alone where there is none)."""
    workers: int | None = None
    """Runs at the same time (as many as cores unless given)."""
    out: str | None = None
    """A folder, or any URL that fsspec opens (s3://bucket/folder); what it has is not run again."""
    only_report: bool = False
    """Run nothing: report what the store has of what is asked for."""
    json: bool = False
    """Print the results as one JSON object, and nothing else, on standard output."""

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise CrisptreeError(f"--workers must be at least 1, not {self.workers}")

    def grid(
        self,
        domains: "tuple[Domain, ...]",
        models: Iterable[Model],
        n_seeds: int,
        quick_sizes: Sizes,
        learning_rates: tuple[float, ...] = (),
    ) -> "Grid":
        """The runs that are asked for."""
        from crisptree.lab.experiments.grid import HIDDEN_LAYERS, LEAVES, RULES, Grid

        leaves, rules, layers = quick_sizes if self.quick else (LEAVES, RULES, HIDDEN_LAYERS)
        return Grid(
            domains=domains,
            models=tuple(dict.fromkeys(models)),
            leaves=self.leaves or leaves,
            rules=self.rules or rules,
            hidden_layers=self.layers or layers,
            learning_rates=learning_rates,
            n_seeds=n_seeds,
            episodes=self.episodes,
            steps=self.steps,
            quick=self.quick,
            beginning=self.beginning,
        )


def run_and_report(title: str, grid: "Grid", options: GridOptions, default_out: str) -> None:
    """Run what is missing in the store, and write the report of all that was asked for."""
    _check_packages(options)
    from crisptree.lab.experiments.experiment_report import make_report
    from crisptree.lab.experiments.record_store import RecordStore
    from crisptree.lab.experiments.run_grid import Outcome

    store = RecordStore(options.out or default_out)
    outcome = Outcome() if options.only_report else _run(grid, store, options)
    command = shlex.join(["crisptree", *sys.argv[1:]])
    report = make_report(title, command, grid, store.records())
    if len(report.main) == 1 and not outcome.failed:
        raise CrisptreeError(f"{store.url} has no records of what is asked for")
    for name, content in report.files.items():
        store.write(store.path(name), content)
    if options.json:
        print(json.dumps({"out": store.url, "ran": len(outcome.ran), **report.results}))
    else:
        print(aligned(report.main, ruled=True), "", *report.verdicts, sep="\n")
        print(f"all of it: {store.url}/report.html")
    if outcome.failed:
        key, why = next(iter(outcome.failed.items()))
        raise CrisptreeError(
            f"{len(outcome.failed)} runs failed, the first ({key}) with: {why}; {store.url}/failed "
            "says more, and the same command tries them again"
        )


def _run(grid: "Grid", store: "RecordStore", options: GridOptions) -> "Outcome":
    from crisptree.lab.experiments.run_grid import run_grid
    from crisptree.pipeline.progress import reporter

    workers, executor = options.workers, options.executor
    try:
        with interrupts_raise(), reporter() as report:
            return run_grid(grid, store, report, workers=workers, executor=executor)
    except KeyboardInterrupt:
        print("\nstopped; nothing is lost: the same command goes on", file=sys.stderr)
        sys.exit(130)


def _check_packages(options: GridOptions) -> None:
    """Refuse before the work starts if a package is missing."""
    needs = [("fsspec", "experiments"), ("matplotlib", "experiments")]
    if options.executor == "ray":
        needs.append(("ray", "ray"))
    for package, extra in needs:
        if importlib.util.find_spec(package) is None:
            raise CrisptreeError(f"this needs {package}: pip install 'crisptree[{extra}]'")
