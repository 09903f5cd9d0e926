"""Table 1: ours beside the paper's, and the details behind every number."""

from collections.abc import Sequence

import numpy as np

from crisptree.lab.experiments import paper
from crisptree.lab.experiments.cell import SIZE_WORDS
from crisptree.lab.experiments.domains import DOMAINS, Domain, domain_of
from crisptree.lab.experiments.policies import SCRIPTS
from crisptree.lab.experiments.statistics import (
    Interval,
    Mean,
    bootstrap,
    interquartile_mean,
    probability_of_improvement,
)
from crisptree.lab.experiments.summary import TITLES, Group, best_of
from crisptree.pipeline.routes import WORDS

PAPER_ROWS = {**{row: row for row in paper.ROWS}, "argmax-tree": "crisp-tree"}
PAPER_ROWS["argmax-list"] = "crisp-list"
"""Which row of the paper's a row of ours stands beside: both kinds of crisp trees."""

RIVALS = (
    ("soft-tree", "mlp"),
    ("soft-list", "mlp"),
    ("crisp-tree", "state-action-dt"),
    ("crisp-tree", "dagger-dt"),
    ("crisp-tree", "argmax-tree"),
    ("crisp-list", "argmax-list"),
    ("crisp-tree", "scripted"),
)
"""Whose chance of doing better than whom is reported."""

Cells = list[list[str]]
"""A table as text: its head, then its rows."""


def main_table(groups: Sequence[Group], envs: Sequence[str]) -> Cells:
    """Mean ± standard error over seeds of each row's best size, the paper's figure beside it;
    how many seeds where they are fewer than elsewhere."""
    domains = [domain_of(env) for env in envs]
    head = [""]
    for domain in domains:
        head += [domain.title, "paper"] if is_in_paper(domain) else [domain.title]
    rows = []
    all_seeds = max((len(group.seeds) for group in groups), default=0)
    for row, title in TITLES.items():
        best = [best_of(groups, env, row) for env in envs]
        if not any(best):
            continue
        line = [title]
        for domain, group in zip(domains, best, strict=True):
            line.append("–" if group is None else told(group.score) + _fewer(group, all_seeds))
            line += [_paper(row, domain.name)] if is_in_paper(domain) else []
        rows.append(line)
    return [head, *rows]


def _fewer(group: Group, all_seeds: int) -> str:
    """A word where a figure rests on fewer seeds than others."""
    n = len(group.seeds)
    return "" if n == all_seeds else f" ({n} seed{'s' if n > 1 else ''})"


def is_in_paper(domain: Domain) -> bool:
    return domain.name in DOMAINS


def _paper(row: str, domain: str) -> str:
    found = paper.TABLE_1.get((PAPER_ROWS.get(row, ""), domain))
    return "–" if found is None else told(Mean(*found))


def detail_table(groups: Sequence[Group], env: str) -> Cells:
    """Every row's best size: each seed, the interquartile mean and its interval, the counts."""
    head = ["", "size", "mean ± s.e.", "IQM [95 %]", "every seed", "seeds × episodes", "leaves"]
    rows = []
    for row, title in TITLES.items():
        group = best_of(groups, env, row)
        if group is None:
            continue
        leaves = ", ".join(str(n) for n in group.leaves) if group.is_crisp else "–"
        rows.append(
            [
                title,
                size_of(group),
                told(group.score),
                within(middle(group)),
                ", ".join(number(score) for score in group.scores),
                f"{len(group.seeds)} × {group.episodes}",
                leaves,
            ]
        )
    return [head, *rows]


def command_table(groups: Sequence[Group], env: str) -> Cells:
    """The first command behind every row that `crisptree train` gives; argmax comes with its soft
    model."""
    rows = []
    for row, title in TITLES.items():
        group = best_of(groups, env, row)
        if group is not None and group.commands and row == group.cell.model:
            rows.append([title, group.commands[0]])
    return [["", "trained by"], *rows]


def improvement_table(groups: Sequence[Group], env: str) -> Cells:
    """The chance that a run of one model does better than a run of another."""
    head = ["", "better than", "probability [95 %]"]
    rows = []
    for ours, theirs in RIVALS:
        a, b = best_of(groups, env, ours), best_of(groups, env, theirs)
        if a is not None and b is not None:
            rows.append([TITLES[ours], TITLES[theirs], within(improvement(a, b), digits=2)])
    return [head, *rows]


def overall_table(groups: Sequence[Group], envs: Sequence[str]) -> Cells:
    """Over all domains, which are the strata: scores from 0 (random) to 1 (the best mean)."""
    head = ["", "normalised IQM [95 %]", "beats the State-Action DT [95 %]"]
    scales = [scale for env in envs if (scale := _scale(groups, env)) is not None]
    theirs = _scores(groups, envs, "state-action-dt")
    rows = []
    for row, title in TITLES.items():
        ours = _scores(groups, envs, row)
        if row == "random" or ours is None or len(scales) < len(envs):
            continue
        scaled = [(s - low) / (high - low) for s, (low, high) in zip(ours, scales, strict=True)]
        chance = "–"
        if theirs is not None and row != "state-action-dt":
            chance = within(bootstrap(probability_of_improvement, ours, theirs), digits=2)
        rows.append([title, within(bootstrap(interquartile_mean, scaled), digits=2), chance])
    return [head, *rows]


def _scores(groups: Sequence[Group], envs: Sequence[str], row: str) -> list[np.ndarray] | None:
    """Of a row's best sizes, where every domain has it."""
    best = [group for env in envs if (group := best_of(groups, env, row)) is not None]
    return [group.scores for group in best] if len(best) == len(envs) else None


def _scale(groups: Sequence[Group], env: str) -> tuple[float, float] | None:
    """What random actions earn, and the best mean of all rows."""
    means = {
        row: group.score.mean for row in TITLES if (group := best_of(groups, env, row)) is not None
    }
    if "random" not in means or max(means.values()) <= means["random"]:
        return None
    return means["random"], max(means.values())


def middle(group: Group) -> Interval:
    return bootstrap(interquartile_mean, [group.scores])


def improvement(ours: Group, theirs: Group) -> Interval:
    return bootstrap(probability_of_improvement, [ours.scores], [theirs.scores])


def size_of(group: Group) -> str:
    if group.cell.size is None:
        return SCRIPTS[group.cell.env][0] if group.row == "scripted" else "–"
    rate = "" if group.cell.learning_rate is None else f", rate {group.cell.learning_rate:g}"
    route = "" if group.cell.route is None else f", {WORDS[group.cell.route]}"
    return f"{group.cell.size} {SIZE_WORDS[group.cell.model]}{rate}{route}"


def told(mean: Mean) -> str:
    return number(mean.mean) + ("" if mean.error is None else f" ± {number(mean.error)}")


def within(interval: Interval, digits: int = 1) -> str:
    low, high = (f"{value:.{digits}f}" for value in (interval.low, interval.high))
    return f"{interval.estimate:.{digits}f} [{low}, {high}]".replace("-", "−")


def number(value: float | np.floating) -> str:
    return f"{value:.1f}".replace("-", "−")


def as_markdown(table: Cells) -> str:
    head, *rows = table
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def as_text(table: Cells) -> str:
    """Columns as wide as they need to be, for a terminal."""
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])
