"""Table 1: ours beside the paper's, and the details behind every number."""

from collections.abc import Sequence

import numpy as np

from crisptree.lab.experiments.aggregate import (
    Interval,
    Mean,
    interquartile_mean,
    probability_of_improvement,
)
from crisptree.lab.experiments.cell import CRISPENED, SIZE_WORDS
from crisptree.lab.experiments.domain import Domain, Reported
from crisptree.lab.experiments.groups import TITLES, Group, best_of

PAPER_ROWS = {"argmax-tree": "crisp-tree", "argmax-list": "crisp-list"}
"""Rows of ours that stand beside a row of the paper's with another name."""

RIVALS = (
    ("soft-tree", "mlp"),
    ("soft-list", "mlp"),
    ("crisp-tree", "state-action-dt"),
    ("crisp-tree", "dagger-dt"),
    ("crisp-tree", "argmax-tree"),
    ("crisp-list", "argmax-list"),
    ("crisp-tree", "linear-rule"),
    ("crisp-tree", "scripted"),
)
"""Pairs of rows for which the chance is reported that the first does better."""
BEGINNINGS = {
    "direct": "from scratch",
    "mlp": "by an MLP teacher",
    "soft": "by a soft teacher",
    "dqn": "by a DQN teacher",
    "exact": "by value iteration",
}
FIRST_EDITION = "¹"
"""Marks a figure of the first edition."""

Rows = list[list[str]]
"""A table as text: its head, then its rows."""


def main_table(groups: Sequence[Group], domains: Sequence[Domain]) -> Rows:
    """Mean ± standard error over seeds of each row's best size, the paper's figure beside it;
    how many seeds where they are fewer than elsewhere."""
    head = [""]
    for domain in domains:
        head += [domain.title, "paper"] if domain.paper else [domain.title]
    rows = []
    all_seeds = max((len(group.seeds) for group in groups), default=0)
    for row, title in TITLES.items():
        line = [title]
        for domain in domains:
            group = best_of(groups, domain.env, row)
            line.append("–" if group is None else _entry(group, all_seeds))
            if domain.paper:
                found = reported(domain, row)
                line.append("–" if found is None else mean_text(Mean(found.mean, found.spread)))
        if any(best_of(groups, domain.env, row) for domain in domains):
            rows.append(line)
    return [head, *rows]


def _entry(group: Group, all_seeds: int) -> str:
    n = len(group.seeds)
    fewer = "" if n == all_seeds else f" ({n} seed{'s' if n > 1 else ''})"
    return mean_text(group.score) + fewer + (FIRST_EDITION if group.cell.edition == 1 else "")


def reported(domain: Domain, row: str) -> Reported | None:
    """The paper's figure that a row of ours stands beside."""
    return domain.paper.get(PAPER_ROWS.get(row, row))


def detail_table(groups: Sequence[Group], domain: Domain) -> Rows:
    """Every row's best size: each seed, the interquartile mean and its interval, the counts."""
    head = ["", "size", "mean ± s.e.", "IQM [95 %]", "every seed", "seeds × episodes", "leaves"]
    rows = []
    for row, title in TITLES.items():
        group = best_of(groups, domain.env, row)
        if group is None:
            continue
        rows.append(
            [
                title,
                size_text(group, domain),
                mean_text(group.score),
                interval_text(interquartile_mean(group.scores)),
                ", ".join(number(score) for score in group.scores),
                f"{len(group.seeds)} × {group.cell.episodes}",
                ", ".join(str(n) for n in group.leaves) if group.is_crisp else "–",
                "first edition" if group.cell.edition == 1 else group.cell.variant_hash,
            ]
        )
    return [[*head, "config"], *rows]


def command_table(groups: Sequence[Group], domain: Domain) -> Rows:
    """The first command behind every row that `crisptree train` gives; argmax comes with its soft
    model."""
    rows = []
    for row, title in TITLES.items():
        group = best_of(groups, domain.env, row)
        if group is not None and group.commands and row == group.cell.model:
            rows.append([title, group.commands[0]])
    return [["", "trained by"], *rows]


def improvement_table(groups: Sequence[Group], domain: Domain) -> Rows:
    """The chance that a run of one model does better than a run of another."""
    rows = []
    for ours, theirs in RIVALS:
        a, b = best_of(groups, domain.env, ours), best_of(groups, domain.env, theirs)
        if a is not None and b is not None:
            rows.append([TITLES[ours], TITLES[theirs], interval_text(improvement(a, b), digits=2)])
    return [["", "better than", "probability [95 %]"], *rows]


def overall_table(groups: Sequence[Group], domains: Sequence[Domain]) -> Rows:
    """Over all domains: scores from 0 (random) to 1 (the best mean)."""
    scales = [scale for domain in domains if (scale := _scale(groups, domain)) is not None]
    theirs = _scores(groups, domains, "state-action-dt")
    rows = []
    for row, title in TITLES.items():
        ours = _scores(groups, domains, row)
        if row == "random" or ours is None or len(scales) < len(domains):
            continue
        scaled = [(s - low) / (high - low) for s, (low, high) in zip(ours, scales, strict=True)]
        chance = "–"
        if theirs is not None and row != "state-action-dt":
            chance = interval_text(probability_of_improvement(ours, theirs), digits=2)
        rows.append([title, interval_text(interquartile_mean(*scaled), digits=2), chance])
    return [["", "normalised IQM [95 %]", "beats the State-Action DT [95 %]"], *rows]


def _scores(
    groups: Sequence[Group], domains: Sequence[Domain], row: str
) -> list[np.ndarray] | None:
    """The scores of a row's best sizes, where every domain has it."""
    best = [group for d in domains if (group := best_of(groups, d.env, row)) is not None]
    return [group.scores for group in best] if len(best) == len(domains) else None


def _scale(groups: Sequence[Group], domain: Domain) -> tuple[float, float] | None:
    """What random actions earn, and the best mean of all rows."""
    best = {row: best_of(groups, domain.env, row) for row in TITLES}
    means = {row: group.score.mean for row, group in best.items() if group is not None}
    if "random" not in means or max(means.values()) <= means["random"]:
        return None
    return means["random"], max(means.values())


def improvement(ours: Group, theirs: Group) -> Interval:
    return probability_of_improvement([ours.scores], [theirs.scores])


def size_text(group: Group, domain: Domain) -> str:
    cell = group.cell
    if group.row == "scripted" and domain.script is not None:
        return domain.script.title
    if cell.size is None:
        return "–"
    rate = "" if cell.learning_rate is None else f", rate {cell.learning_rate:g}"
    begins = ""
    if cell.model in CRISPENED and cell.beginning is not None:
        begins = f", {BEGINNINGS.get(cell.beginning, cell.beginning)}"
    return f"{cell.size} {SIZE_WORDS[cell.model]}{rate}{begins}"


def mean_text(mean: Mean) -> str:
    return number(mean.mean) + ("" if mean.error is None else f" ± {number(mean.error)}")


def interval_text(interval: Interval, digits: int = 1) -> str:
    text = f"{interval.estimate:.{digits}f}"
    if interval.low is not None and interval.high is not None:
        text += f" [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"
    return text.replace("-", "−")


def number(value: float | np.floating) -> str:
    return f"{value:.1f}".replace("-", "−")
