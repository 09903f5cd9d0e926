"""The report of a grid: tables, figures and policies as Markdown, HTML and JSON."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from crisptree.lab.experiments.aggregate import interquartile_mean
from crisptree.lab.experiments.best_policies import BestPolicy, best_policies
from crisptree.lab.experiments.document import (
    Block,
    Code,
    Heading,
    Paragraph,
    Picture,
    Table,
    as_html,
    as_markdown,
)
from crisptree.lab.experiments.domain import Domain
from crisptree.lab.experiments.experiment_figures import draw
from crisptree.lab.experiments.grid import Grid, relevant
from crisptree.lab.experiments.groups import TITLES, Group, best_of, groups_of
from crisptree.lab.experiments.paper_table import (
    FIRST_EDITION,
    RIVALS,
    Rows,
    command_table,
    detail_table,
    improvement,
    improvement_table,
    main_table,
    mean_text,
    overall_table,
    reported,
    size_text,
)
from crisptree.lab.experiments.pareto import front_of, points_of, worth_it
from crisptree.lab.experiments.record import Record
from crisptree.pipeline.run_directory import plain

FORMAT = "crisptree.results"
HOW_TO_READ = (
    "Each entry is the mean over training seeds ± its standard error, of the greedy policy on "
    "episodes that neither training nor any choice has seen. Each row shows the size that earned "
    "most on selection episodes, which are not the reported ones. IQM: the mean of the middle half "
    "of the seeds, with a 95 % interval of the stratified bootstrap. Config: the hash of the "
    "configuration, with seed 0.",
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
ABOUT_FIRST_EDITION = (
    f"{FIRST_EDITION} Made by the first edition of crisptree, which hashed no configuration: the "
    "recipes that were in force are in edition-1/, and README.md says what is known of them."
)
COMMANDS = (
    "The same by crisptree train; crisp policies are trained one seed at a time, of which this is "
    "the first:"
)
IMPROVEMENT = "How likely a run of one does better than a run of another:"
DRAWINGS = {
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
class Report:
    main: Rows
    verdicts: list[str]
    """Which size is worth it, for each domain with a crisp policy."""
    results: dict[str, Any]
    files: dict[str, bytes]
    """All that the report consists of, by file name."""


def make_report(title: str, command: str, grid: Grid, records: Iterable[Record]) -> Report:
    """The report of the records that the grid asks for, whatever others there are."""
    groups = groups_of(relevant(grid, records))
    main, overall = main_table(groups, grid.domains), overall_table(groups, grid.domains)
    blocks: list[Block] = [Heading(title, 1), Code(command), Table(main)]
    if any(group.cell.edition == 1 for group in groups):
        blocks.append(Paragraph(ABOUT_FIRST_EDITION))
    blocks += map(Paragraph, HOW_TO_READ)
    if len(grid.domains) > 1 and len(overall) > 1:
        blocks += [Heading("All domains together"), Table(overall)]
    files: dict[str, bytes] = {}
    for domain in grid.domains:
        blocks += _section(groups, domain, files)
    results = results_of(groups, grid)
    files["results.json"] = (json.dumps(results, indent=1) + "\n").encode()
    files["report.md"] = as_markdown(blocks).encode()
    files["report.html"] = as_html(title, blocks).encode()
    verdicts = [said for d in grid.domains if (said := verdict(groups, d)) is not None]
    return Report(main, verdicts, results, files)


def _section(groups: Sequence[Group], domain: Domain, files: dict[str, bytes]) -> list[Block]:
    """What there is to say of one domain; its figures and policies go to `files`."""
    blocks: list[Block] = [Heading(domain.title)]
    blocks.append(Code(domain.env, f": {domain.note}." if domain.note else ""))
    blocks.append(Table(detail_table(groups, domain)))
    improvements, commands = improvement_table(groups, domain), command_table(groups, domain)
    if len(improvements) > 1:
        blocks += [Paragraph(IMPROVEMENT), Table(improvements)]
    if (said := verdict(groups, domain)) is not None:
        blocks.append(Paragraph(said))
    if len(commands) > 1:
        blocks += [Paragraph(COMMANDS), Table(commands, last_is_code=True)]
    figures = {f"figures/{name}": content for name, content in draw(groups, domain)}
    for what, caption in FIGURES.items():
        path = f"figures/{domain.name}-{what}.svg"
        if path in figures:
            blocks.append(Picture(path, figures[path].decode(), caption))
    files |= figures
    for policy in best_policies(groups, domain):
        blocks += _policy(policy, files)
    return blocks


def _policy(policy: BestPolicy, files: dict[str, bytes]) -> list[Block]:
    text = json.dumps(policy.tree.to_dict(), indent=1)
    files[f"policies/{policy.name}.json"] = f"{text}\n".encode()
    blocks: list[Block] = [
        Heading(f"The best {policy.shape} to read", 3),
        Code(f"policies/{policy.name}.json", f": {policy.caption}"),
    ]
    for which, svg in policy.drawings().items():
        path = f"policies/{policy.name}-{which}.svg"
        files[path] = svg.encode()
        blocks.append(Picture(path, svg, DRAWINGS[which]))
    return blocks


def verdict(groups: Sequence[Group], domain: Domain) -> str | None:
    """Which size is worth it, in a sentence."""
    points = points_of(groups, domain.env)
    worth = worth_it(points)
    if worth is None:
        return None
    best = max(points, key=lambda point: point.score)
    text = (
        f"Worth it: {TITLES[worth.group.row]}, {size_text(worth.group, domain)} "
        f"({worth.leaves:.3g} leaves on average), {mean_text(worth.group.score)}"
    )
    if best.group is worth.group:
        return f"{text}: no other crisp policy earns more."
    return (
        f"{text}. The best, {TITLES[best.group.row]}, {size_text(best.group, domain)} "
        f"({best.leaves:.3g} leaves), earns {mean_text(best.group.score)}: no more than a standard "
        "error above it."
    )


def results_of(groups: Sequence[Group], grid: Grid) -> dict[str, Any]:
    """All results in plain JSON."""
    asked = {
        name: value
        for name, value in vars(grid).items()
        if name not in ("domains",) and value is not None
    }
    domains = {domain.name: _domain_results(groups, domain) for domain in grid.domains}
    return plain({"format": FORMAT, "version": 2, "asked": asked, "domains": domains})


def _domain_results(groups: Sequence[Group], domain: Domain) -> dict[str, Any]:
    best = {row: group for row in TITLES if (group := best_of(groups, domain.env, row)) is not None}
    worth = worth_it(points := points_of(groups, domain.env))
    paper = {row: reported(domain, row) for row in best}
    return {
        "env": domain.env,
        "table": [
            {
                **_group_results(group),
                "iqm": interquartile_mean(group.scores)._asdict(),
                "paper": None if (found := paper[row]) is None else found._asdict(),
            }
            for row, group in best.items()
        ],
        "improvement": [
            {"model": a, "over": b, **improvement(best[a], best[b])._asdict()}
            for a, b in RIVALS
            if a in best and b in best
        ],
        "sweep": [_group_results(group) for group in groups if group.cell.env == domain.env],
        "pareto": [
            {"row": p.group.row, "size": p.group.cell.size, "leaves": p.leaves, "mean": p.score}
            for p in front_of(points)
        ],
        "worth_it": None
        if worth is None
        else {**_group_results(worth.group), "mean_leaves": worth.leaves},
        "policies": [
            {"file": f"policies/{p.name}.json", **p.tree.training, "leaves": p.tree.n_leaves}
            for p in best_policies(groups, domain)
        ],
    }


def _group_results(group: Group) -> dict[str, Any]:
    cell = group.cell
    return {
        "row": group.row,
        "size": cell.size,
        "learning_rate": cell.learning_rate,
        "mean": group.score.mean,
        "standard_error": group.score.error,
        "every_seed": {str(s.seed): x for s, x in zip(group.seeds, group.scores, strict=True)},
        "episodes": cell.episodes,
        "leaves": group.leaves if group.is_crisp else None,
        "seconds": round(sum(each.seconds or 0.0 for each in group.seeds), 1),
        "edition": cell.edition,
        "config_hash": None if cell.edition == 1 else cell.variant_hash,
        "teacher": cell.teacher,
        "commands": list(group.commands),
    }
