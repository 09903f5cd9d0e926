"""The report: Markdown, JSON, figures, policies and one page that opens by itself."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from crisptree.lab.experiments import figures
from crisptree.lab.experiments.domains import domain_of
from crisptree.lab.experiments.pareto import points_of, worth_it
from crisptree.lab.experiments.plan import Grid, relevant
from crisptree.lab.experiments.readable import Readable, readable_policies
from crisptree.lab.experiments.results import as_json
from crisptree.lab.experiments.store import Store
from crisptree.lab.experiments.summary import TITLES, Group, groups_of
from crisptree.lab.experiments.table import (
    Cells,
    command_table,
    detail_table,
    improvement_table,
    main_table,
    overall_table,
    size_of,
    told,
)

HOW_TO_READ = (
    "Each entry is the mean over training seeds ± its standard error, of the greedy policy on "
    "episodes that neither training nor any choice has seen. Each row shows the size that earned "
    "most on selection episodes, which are not the reported ones. IQM: the mean of the middle half "
    "of the seeds, with a 95 % interval of the stratified bootstrap.",
    "Crisp trees and lists are trained the crisptree way; “argmax” is the paper's discretisation "
    "of the soft model in the same run. The paper's ± is as printed there; of what, it does not "
    "say.",
    "State-Action DT: scikit-learn's CART on state–action pairs of the best agent of the domain, "
    "its leaves taken as actions. The code released with the paper passes them through a softmax "
    "and samples, so that the tree's own action is taken in 73 % of the steps with two actions and "
    "48 % with four; that alone can explain the paper's low figures. The MLP is the paper's "
    "(hidden ReLU layers as wide as the input) with today's PPO: normalised observations, a "
    "separate critic, generalised advantages.",
)
COMMANDS = (
    "The same by crisptree train; crisp policies are trained a seed at a time, of which this is "
    "the first:"
)
WHICH = {
    "simplified": "simplified",
    "full": "full: as it was before the cuts that cost nothing",
}
FIGURES = {
    "curves": "Return in training, mean over seeds and one standard error to either side. The "
    "curve of a crisp policy runs through all its stages, its teacher's training first where there "
    "is one; it falls where a cut is made, and learns again.",
    "robustness": "Return against size: mean and standard error over seeds.",
    "pareto": "Return against leaves of crisp policies: faint marks are seeds, strong ones means.",
}


@dataclass(frozen=True)
class Section:
    """What there is to say of one environment."""

    env: str
    note: str
    details: Cells
    improvement: Cells
    commands: Cells
    """How to train what the rows show, a seed at a time or side by side."""
    verdict: str | None
    pictures: dict[str, bytes]
    """Figures by file name."""
    policies: tuple[Readable, ...]


@dataclass(frozen=True)
class Report:
    title: str
    command: str
    main: Cells
    overall: Cells | None
    sections: tuple[Section, ...]
    results: dict[str, Any]


def make_report(title: str, command: str, grid: Grid, store: Store) -> Report:
    """From the records that the grid asks for, whatever else the store has."""
    groups = groups_of(relevant(grid, store.records()))
    overall = overall_table(groups, grid.envs)
    return Report(
        title,
        command,
        main_table(groups, grid.envs),
        overall if len(grid.envs) > 1 and len(overall) > 1 else None,
        tuple(_section(groups, env) for env in grid.envs),
        as_json(groups, grid),
    )


def _section(groups: Sequence[Group], env: str) -> Section:
    return Section(
        env=env,
        note=domain_of(env).note,
        details=detail_table(groups, env),
        improvement=improvement_table(groups, env),
        commands=command_table(groups, env),
        verdict=verdict(groups, env),
        pictures=dict(figures.draw(groups, env)),
        policies=tuple(readable_policies(groups, env)),
    )


def verdict(groups: Sequence[Group], env: str) -> str | None:
    """Which size is worth it, in a sentence."""
    points = points_of(groups, env)
    worth = worth_it(points)
    if worth is None:
        return None
    best = max(points, key=lambda point: point.score)
    text = (
        f"Worth it: {TITLES[worth.group.row]}, {size_of(worth.group)} "
        f"({worth.leaves:.3g} leaves on average), {told(worth.group.score)}"
    )
    if best.group is worth.group:
        return f"{text}: nothing readable earns more."
    return (
        f"{text}. The best, {TITLES[best.group.row]}, {size_of(best.group)} "
        f"({best.leaves:.3g} leaves), earns {told(best.group.score)}: no more than a standard "
        "error above it."
    )


def files_of(report: Report) -> Iterator[tuple[str, bytes]]:
    """Every file of the report, by its name in the store."""
    from crisptree.lab.experiments.page import as_html, as_markdown_page

    for section in report.sections:
        for name, content in section.pictures.items():
            yield f"figures/{name}", content
        for policy in section.policies:
            text = json.dumps(policy.tree.to_dict(), indent=1)
            yield f"policies/{policy.name}.json", f"{text}\n".encode()
            for which, svg in policy.pictures().items():
                yield f"policies/{policy.name}-{which}.svg", svg.encode()
    yield "results.json", (json.dumps(report.results, indent=1) + "\n").encode()
    yield "report.md", as_markdown_page(report).encode()
    yield "report.html", as_html(report).encode()


def write_report(report: Report, store: Store) -> None:
    for name, content in files_of(report):
        store.write(store.path(name), content)
